"""The warnings about what of a resource needs users of its stack, or trusts, which zonda has not.

Heat makes a user of Keystone for whatever signals or reads from inside a server. What zonda makes
has nobody to sign in as, so that is told before anything is made. Called by ``adapter``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from zonda.hooks import TemplateError

#: The code of a resource that does less than its template says.
WITHOUT_EFFECT: Final = "ZON617"
_IAM: Final = "heat.engine.resources.aws.iam.user"
_SERVER: Final = "heat.engine.resources.server_base"
_TRANSPORT: Final = "software_config_transport"
#: The transports that sign in; the others need no user.
_SIGNING: Final = ("POLL_SERVER_CFN", "POLL_SERVER_HEAT", "ZAQAR_MESSAGE")


def list_warnings(heat: Any) -> Iterator[TemplateError]:
    """The warnings about a resource of Heat's, with their places."""
    modules = {each.__module__ for each in type(heat).__mro__}
    at = ("resources", heat.name)
    if _IAM in modules:
        text = f"{heat.type()} names nobody who could sign in: zonda makes no users of a stack"
        hint = "Give a server the credentials that it needs, an application credential say."
        yield TemplateError(text, path=at, code=WITHOUT_EFFECT, hint=hint)
    elif _SERVER in modules and heat.user_data_software_config():
        transport = heat.properties[_TRANSPORT]
        if transport in _SIGNING:
            text = (
                f"an agent in the server cannot sign in ({_TRANSPORT}: {transport}): zonda makes "
                "no users of a stack"
            )
            hint = (
                "Have the agent poll the URL in the attribute os_collect_config of an "
                "OS::Heat::DeployedServer: see 'Configure software' in zonda's how-to pages."
            )
            path = (*at, "properties", "user_data_format")
            yield TemplateError(text, path=path, code=WITHOUT_EFFECT, hint=hint)
