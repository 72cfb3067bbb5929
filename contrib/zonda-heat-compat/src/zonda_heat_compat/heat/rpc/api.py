"""The names of what Heat's services tell each other, as far as plug-ins use them."""

SOFTWARE_CONFIG_KEYS = (
    SOFTWARE_CONFIG_ID,
    SOFTWARE_CONFIG_NAME,
    SOFTWARE_CONFIG_GROUP,
    SOFTWARE_CONFIG_CONFIG,
    SOFTWARE_CONFIG_INPUTS,
    SOFTWARE_CONFIG_OUTPUTS,
    SOFTWARE_CONFIG_OPTIONS,
    SOFTWARE_CONFIG_CREATION_TIME,
    SOFTWARE_CONFIG_PROJECT,
) = (
    "id",
    "name",
    "group",
    "config",
    "inputs",
    "outputs",
    "options",
    "creation_time",
    "project",
)
SOFTWARE_DEPLOYMENT_KEYS = (
    SOFTWARE_DEPLOYMENT_ID,
    SOFTWARE_DEPLOYMENT_CONFIG_ID,
    SOFTWARE_DEPLOYMENT_SERVER_ID,
    SOFTWARE_DEPLOYMENT_INPUT_VALUES,
    SOFTWARE_DEPLOYMENT_OUTPUT_VALUES,
    SOFTWARE_DEPLOYMENT_ACTION,
    SOFTWARE_DEPLOYMENT_STATUS,
    SOFTWARE_DEPLOYMENT_STATUS_REASON,
) = (
    "id",
    "config_id",
    "server_id",
    "input_values",
    "output_values",
    "action",
    "status",
    "status_reason",
)
SOFTWARE_DEPLOYMENT_STATUSES = (
    SOFTWARE_DEPLOYMENT_IN_PROGRESS,
    SOFTWARE_DEPLOYMENT_FAILED,
    SOFTWARE_DEPLOYMENT_COMPLETE,
) = ("IN_PROGRESS", "FAILED", "COMPLETE")
SOFTWARE_DEPLOYMENT_OUTPUTS = (
    SOFTWARE_DEPLOYMENT_OUTPUT_STDOUT,
    SOFTWARE_DEPLOYMENT_OUTPUT_STDERR,
    SOFTWARE_DEPLOYMENT_OUTPUT_STATUS_CODE,
) = ("deploy_stdout", "deploy_stderr", "deploy_status_code")
STACK_ID, STACK_NAME, STACK_STATUS, STACK_OUTPUTS = (
    "stack_identity",
    "stack_name",
    "stack_status",
    "outputs",
)
PARAM_TIMEOUT, PARAM_FILES, PARAM_EXISTING = "timeout_mins", "files", "existing"
TEMPLATE_TYPE_CFN, TEMPLATE_TYPE_HOT = "cfn", "hot"
