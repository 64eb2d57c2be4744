"""Answers for several factors at once, for tables: factors are the words of the first argument."""

from deviate.model.diagnosis import Answer, Control

Claims = dict[str, Control]
"""Controls by factor."""


def yes(factors: str) -> Claims:
    return _all(factors, "yes")


def partly(factors: str, why: str, advice: str) -> Claims:
    return _all(factors, "partly", why, advice)


def no(factors: str, why: str, advice: str) -> Claims:
    return _all(factors, "no", why, advice)


def nothing(factors: str, why: str) -> Claims:
    return _all(factors, "nothing", why)


def _all(factors: str, answer: Answer, why: str = "", advice: str = "") -> Claims:
    return {factor: Control(factor, answer, why, advice) for factor in factors.split()}
