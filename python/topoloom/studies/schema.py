"""The JSON schema of study files, for editors that check and complete TOML."""

import re
from typing import Any

from topoloom.engine.results import KeyDescription
from topoloom.network.families import descriptions
from topoloom.network.faults import FaultOptions
from topoloom.simulation.run_options import LinkLatencies
from topoloom.studies.measurements import MEASUREMENTS
from topoloom.studies.study import Study

DIALECT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]


def study_schema() -> Schema:
    r"""Return the JSON schema of study files; every key has a description.

    The dialect is draft 2020-12 of `JSON Schema <https://json-schema.org/draft/2020-12>`_.

    >>> study_schema()["$defs"]["Sweep"]["properties"]["seeds"]["anyOf"][-1]["pattern"]
    '^\\d+(:\\d+)?$'
    """
    schema: Schema = {"$schema": DIALECT} | Study.model_json_schema()
    for table in (schema, *schema["$defs"].values()):
        if "description" in table:  # a docstring, whose examples are for Python
            table["description"] = table["description"].partition("\n\n>>> ")[0]
    sweep = schema["$defs"]["Sweep"]
    sweep.pop("required")  # the defaults may have it
    properties = sweep["properties"]
    for name in ("networks", "routings", "traffic", "apps", "seeds", "zip"):
        properties[name] |= _or_one(properties[name])
        properties[name].pop("items"), properties[name].pop("type")
    properties["seeds"]["anyOf"].append({"type": "string", "pattern": r"^\d+(:\d+)?$"})
    about = properties["options"]["description"]
    properties["options"] = {"type": "object", "description": about, **_options()}
    defaults = {name: {**key} for name, key in properties.items()}
    network = schema["$defs"]["NetworkTable"]
    network["properties"]["family"]["enum"] = list(descriptions())
    network["allOf"] = [_family(name, family.keys_) for name, family in descriptions().items()]
    schema["properties"]["defaults"] |= {"properties": defaults, "additionalProperties": False}
    return schema


def _family(name: str, keys: list[KeyDescription]) -> Schema:
    """Return what the table of a network of this family may hold, as the engine describes its keys."""
    return {
        "if": {"properties": {"family": {"const": name}}},
        "then": {"properties": {key.name: {"description": key.doc, **_typed(key)} for key in keys}},
    }


def _typed(key: KeyDescription) -> Schema:
    """Return the schema of a key's value; what TOML has no type for is a text, which the engine reads."""
    match key.type:
        case "int":
            bounds = {"least": "minimum", "most": "maximum"}
            return {"type": ["integer", "string"]} | {bounds[name]: key[name] for name in bounds if name in key}
        case "choice":
            return {"enum": key.words}
        case "flag":
            return {"enum": [True, False, "true", "false"]}
        case "real" | "part":
            return {"type": ["number", "string"]}
    return {"type": ["string", "integer", "array"]}


def _or_one(listed: Schema) -> Schema:
    """Return the schema of a list in whose place one of its values may stand."""
    array = {name: listed[name] for name in ("type", "items", "minItems") if name in listed}
    return {"anyOf": [listed["items"], array]}


def _options() -> Schema:
    """Return the options of all kinds, each one value or a list of them."""
    links = LinkLatencies.model_json_schema()
    for name, what in _described(LinkLatencies.__doc__ or "").items():
        key = LinkLatencies.model_fields[name].alias or name
        links["properties"][key]["description"] = f"Cycles. {what}"
    properties: Schema = {
        "router": {"type": "string", "description": "Several options as --router takes them: 'vcs=4,buffer=16'."}
    }
    for model in dict.fromkeys(kind.options for kind in MEASUREMENTS.values()):
        told = {name: what for base in model.__mro__[::-1] for name, what in _described(base.__doc__ or "").items()}
        for name, key in model.model_json_schema()["properties"].items():
            if name in ("seed", "fractions"):  # a study has seeds
                continue
            value = links if name == "links" else {part: key[part] for part in key if part not in ("title", "default")}
            value.pop("description", None)
            one = {"description": told[name], "anyOf": [value, {"type": "array", "items": value, "minItems": 1}]}
            for spelled in dict.fromkeys((name, name.replace("_", "-"))):
                properties.setdefault(spelled, one)
    about = _described(FaultOptions.__doc__ or "")["fractions"]
    properties["fractions"] = {"description": about, "anyOf": [{"type": "number"}, {"type": "string"}]}
    return {"properties": properties, "additionalProperties": False}


def _described(docstring: str) -> dict[str, str]:
    """Return what a docstring states about each attribute."""
    listed = re.findall(r"^ {8}(\w+): (.*(?:\n {12}.*)*)", docstring, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in listed}
