"""Hooks of the property-based tester, which invents jobs: their commands must do no harm."""
import schemathesis


def make_harmless(job):
    if isinstance(job, dict) and isinstance(job.get("command"), str) and job["command"].strip():
        job["command"] = "true"


@schemathesis.hook
def map_body(context, body):
    for job in body if isinstance(body, list) else [body]:
        make_harmless(job)
    return body
