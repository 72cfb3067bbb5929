"""HOT templates, by the names of their versions' classes."""

from heat.engine.template import Template

HOTemplate20130523 = HOTemplate20141016 = HOTemplate20150430 = HOTemplate20151015 = Template
HOTemplate20160408 = HOTemplate20161014 = HOTemplate20170224 = HOTemplate20170901 = Template
HOTemplate20180302 = HOTemplate20180831 = HOTemplate20210416 = HOTemplate = Template

__all__ = ["HOTemplate", "Template"]
