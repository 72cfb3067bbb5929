"""CloudFormation templates."""

from heat.engine.template import Template

CfnTemplate = HeatTemplate = Template

__all__ = ["CfnTemplate", "HeatTemplate", "Template"]
