"""A check as JUnit XML, which CI systems display as tests: a case per metric and candidate, control and records.

Source: the form of Ant's JUnit task as Jenkins, GitLab and GitHub's reporters read it (windyroad's JUnit.xsd).
"""

import xml.etree.ElementTree as ET
from datetime import UTC, datetime

from deviate import __version__
from deviate.report.document import Case, Document, check_of
from deviate.report.forms.registry import document_form
from deviate.report.medium import Medium

SUITE = "deviate check"


@document_form("junit")
def render_junit(document: Document, _medium: Medium) -> str:
    """Worse and a broken control are failures, missing runs errors; undecided and absent are skipped."""
    check = check_of(document)
    counts = {
        "tests": len(check.cases),
        "failures": sum(_element(case) == "failure" for case in check.cases),
        "errors": sum(_element(case) == "error" for case in check.cases),
        "skipped": sum(_element(case) == "skipped" for case in check.cases),
    }
    numbers = {name: str(n) for name, n in counts.items()}
    # The time of the last run: the same records give the same file.
    began = datetime.fromtimestamp(check.began, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    suites = ET.Element("testsuites", {"name": SUITE, **numbers, "time": "0"})
    suite = ET.SubElement(
        suites,
        "testsuite",
        {"name": f"{SUITE}: {check.title}", **numbers, "time": "0", "timestamp": began, "hostname": "localhost"},
    )
    properties = ET.SubElement(suite, "properties")
    for name, value in (("deviate", __version__), ("result", check.word), ("exit code", str(check.code))):
        ET.SubElement(properties, "property", {"name": name, "value": value})
    for case in check.cases:
        _testcase(suite, case)
    ET.SubElement(suite, "system-out").text = "\n".join((*(case.headline for case in check.cases), check.result))
    ET.SubElement(suite, "system-err").text = "\n".join(check.warnings)
    ET.indent(suites, " ")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'


def _testcase(suite: ET.Element, case: Case) -> None:
    place = {"file": case.file, "line": str(case.line)} if case.file else {}
    group = ".".join(filter(None, (SUITE, case.subject)))
    test = ET.SubElement(suite, "testcase", {"classname": group, "name": case.name, "time": "0", **place})
    element = _element(case)
    if element == "skipped":
        ET.SubElement(test, "skipped", {"message": f"{case.word}: {_text(case)}"})
    elif element:
        ET.SubElement(test, element, {"message": case.headline, "type": case.word}).text = _text(case)
    figures = "\n".join(f"{label}: {text}" for label, text in case.figures)
    if figures:
        ET.SubElement(test, "system-out").text = figures


def _element(case: Case) -> str:
    """The child element of a case with its outcome; empty for a passed case."""
    if case.outcome == "error":
        return "error"
    if case.fails:
        return "failure"
    return "" if case.outcome == "passed" else "skipped"


def _text(case: Case) -> str:
    return "\n".join(filter(None, (case.reason, case.advice)))
