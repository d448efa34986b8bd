"""Parameters in a JSON file: written by `bevel tune --out`, read by `bevel fit --params`.

    {"format": "bevel parameters 1", "estimator": "ObliqueForestClassifier", "target": "species",
     "parameters": {"criterion": "entropy", "projection": ...}}

Values are written as in model files (`docs/reference/file_format.md`). Reading runs no code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bevel.errors import ModelFileError, join_names
from bevel.estimators import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.files.atomic import write_whole
from bevel.files.layout import Layout, Sections, read_json
from bevel.files.values import UnstorableError, decode_value, encode_value
from bevel.parameters.parameter import check_each
from bevel.projections.families import read_projection
from bevel.tuning.candidates import MANAGED, parameters_of

__all__ = ["read_parameter_file", "write_parameter_file"]

FORMAT = "bevel parameters 1"
KINDS = {each.__name__: each for each in (ObliqueForestClassifier, ObliqueForestRegressor)}


def write_parameter_file(
    path: Path, parameters: Mapping[str, Any], estimator: Any, target: str
) -> None:
    """Write parameters, whole or not at all.

    Parameters
    ----------
    path : Path
        Path of the file.
    parameters : mapping
        Parameters for `set_params`.
    estimator : estimator
        Estimator of the parameters.
    target : str
        Column that the parameters were chosen for.
    """
    arrays: dict[str, Any] = {}
    try:
        encoded = {name: encode_value(value, arrays) for name, value in parameters.items()}
    except UnstorableError as error:
        raise TypeError(f"Parameters must be made of numbers and text; got {error}.") from None
    if arrays:
        raise TypeError("Parameters in a JSON file cannot hold arrays. Save the model instead.")
    content = {
        "format": FORMAT,
        "estimator": type(estimator).__name__,
        "target": target,
        "parameters": encoded,
    }
    write_whole(path, [json.dumps(content, indent=2).encode("ascii"), b"\n"])


def read_parameter_file(path: Path, kind: type, target: str) -> dict[str, Any]:
    """Read parameters for a kind of estimator and a target; raises ValueError.

    Parameters
    ----------
    path : Path
        File written by `bevel tune --out`, or by hand.
    kind : type
        ObliqueForestClassifier or ObliqueForestRegressor.
    target : str
        Column to predict.
    """
    try:
        content = read_json(path.read_bytes())
    except ModelFileError as error:
        raise _refused(path, f"JSON; {_first_sentence(error)}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise _refused(path, f'an object whose "format" is "{FORMAT}"')
    for name, wanted in (("estimator", kind.__name__), ("target", target)):
        if content.get(name) != wanted:
            raise ValueError(
                f"{path} must have been written for the {name} {wanted!r}; it is for "
                f"{content.get(name)!r}. Run bevel tune for this one."
            )
    parameters = content.get("parameters")
    if not isinstance(parameters, dict):
        raise _refused(path, 'an object with an object "parameters"')
    return _decode(path, parameters, kind)


def _decode(path: Path, parameters: Mapping[str, Any], kind: type) -> dict[str, Any]:
    default = kind()
    known = parameters_of(default)
    unknown = [repr(name) for name in parameters if name not in known or name in MANAGED]
    if unknown:
        usable = ", ".join(name for name in known if name not in MANAGED)
        raise ValueError(
            f"{path} must hold parameters of {kind.__name__} ({usable}); got "
            f"{join_names(unknown)}. Remove them."
        )
    no_arrays = Sections(Layout(memoryview(b""), {}, {}, 0))
    try:
        decoded = {name: decode_value(each, no_arrays) for name, each in parameters.items()}
        values = {**default.get_params(deep=False), **decoded}
        check_each(values, known)
        read_projection(values["projection"], values["n_projections"])
    except ModelFileError as error:
        raise _refused(path, f"made of values of parameters; {_first_sentence(error)}") from None
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None
    return decoded


def _first_sentence(error: Exception) -> str:
    return str(error).split(". The file is damaged")[0]


def _refused(path: Path, required: str) -> ValueError:
    return ValueError(f"{path} must be {required}. Write it with bevel tune --out.")
