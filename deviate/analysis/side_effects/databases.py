"""Data bases, which all runs share."""

import re

import libcst as cst

from deviate.analysis.hazards.survey import Survey
from deviate.analysis.side_effects.destinations import Destinations
from deviate.analysis.side_effects.trackers import Found, plain
from deviate.model.metric_vocabulary import word_set

DATABASES = word_set(
    "sqlite3.connect sqlalchemy.create_engine psycopg2.connect psycopg.connect pymysql.connect MySQLdb.connect "
    "mysql.connector.connect pymongo.MongoClient redis.Redis redis.StrictRedis redis.from_url optuna.create_study "
    "optuna.storages.RDBStorage mlflow.set_tracking_uri"
)
SHARED = re.compile(r"\w[\w+.]*://(?!/)|databricks")
"""Addresses of servers, for calls that also take paths."""


def databases(survey: Survey, destinations: Destinations) -> Found:
    for name in sorted(DATABASES):
        for call in survey.calls([name]):
            place = None if name == "optuna.create_study" else 0
            address = call.argument(place, "storage", "url", "uri", "database", "host")
            value = destinations.constant(address, call.function)
            description = f'{plain(name)}("{_without_password(value)}")' if value else plain(name)
            if name == "optuna.create_study" and (address is None or not (value or _is_made(address))):
                continue
            if name == "mlflow.set_tracking_uri" and not (value and SHARED.match(value)):
                continue
            if name == "sqlite3.connect" and (value is None or value == ":memory:"):
                continue
            if not (value and (value in ("sqlite://", "sqlite:///:memory:"))):
                yield "database", call.node, description


def _is_made(address: cst.BaseExpression) -> bool:
    return isinstance(address, cst.Call | cst.FormattedString)


def _without_password(address: str) -> str:
    return re.sub(r"(?<=://)[^/@\s]*@", "", address)
