"""`"{a.avg:.4f}".format(a=meter)` with a tap: the fields are taken once, by the formatting itself."""

import string
from sys import _getframe


class Formatting(string.Formatter):
    """Stands for the bound method `"…".format`.

    Source: string.Formatter, which the language reference defines to have the behaviour of str.format.
    """

    def __init__(self, sites, callee, recorder):
        self.sites = sites
        self.callee = callee
        self.recorder = recorder
        self.values = {}

    def __call__(self, *args, **kwargs):
        template = getattr(self.callee, "__self__", None)
        if type(template) is not str:
            return self.callee(*args, **kwargs)
        try:
            text = self.vformat(template, args, kwargs)
        except Exception:
            return self.callee(*args, **kwargs)  # raises the error that the user knows
        for site in self.sites:
            try:
                for field in self.recorder.fields.get(site, ()):
                    if field in self.values:
                        self.recorder.value(site, self.values[field], None, _getframe(1))
            except Exception as error:
                self.recorder.fault("site %s" % site, error)
        return text

    def get_field(self, field_name, args, kwargs):
        value = string.Formatter.get_field(self, field_name, args, kwargs)
        self.values[field_name] = value[0]
        return value
