"""An error of the caller: an HTTP status and a sentence that names the field, the rule and the fix."""


class Refusal(Exception):
    def __init__(self, status, detail):
        super().__init__(detail)
        self.status = status
        self.detail = detail


def invalid(detail):
    return Refusal(400, detail)


def unknown(detail):
    return Refusal(404, detail)


def conflict(detail):
    return Refusal(409, detail)
