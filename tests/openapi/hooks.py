"""For the property-based tester: it makes up jobs, and what they run must do no harm."""
import schemathesis


@schemathesis.hook
def map_body(context, body):
    if isinstance(body, dict) and isinstance(body.get("command"), str) and body["command"].strip():
        body["command"] = "true"
    return body
