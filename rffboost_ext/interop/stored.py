"""A loss as text, stored with a saved model."""

from __future__ import annotations

import json
from typing import Any

from .. import losses
from ..core import Loss, Spec
from ..losses.registry import LOSSES


def described(loss: Loss) -> str:
    """Name and hyperparameters of a loss, as JSON."""
    return json.dumps(as_data(loss))


def as_data(value: Any) -> Any:
    """A hyperparameter, or a loss inside a loss, as JSON-compatible data, falling back to ``repr``."""
    if isinstance(value, Spec):
        params = {name: as_data(inner) for name, inner in value.get_params(deep=False).items()}
        return {"class": f"{type(value).__module__}.{type(value).__qualname__}", "params": params}
    if isinstance(value, tuple):
        return {"tuple": [as_data(inner) for inner in value]}
    if isinstance(value, list):
        return [as_data(inner) for inner in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return {"repr": repr(value)}


def restored(text: str, given: str | Loss) -> Loss:
    """Inverse of :func:`described`.

    Parameters
    ----------
    text : str
        What was stored.
    given : str or Loss
        The reader's own loss; returned if it is the one that was stored.

    Raises
    ------
    ValueError
        If the stored loss is neither registered nor the one given.
    """
    at_hand = LOSSES.create(given)
    if described(at_hand) == text:
        return at_hand
    try:
        loss = made(json.loads(text))
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"the model was trained with the loss {text}, which is not registered here; hand it over: "
            f"loss=... in the constructor, before load_model"
        ) from error
    return LOSSES.create(loss)


def made(data: Any) -> Any:
    """Inverse of :func:`as_data`; a KeyError if a class is not registered or only a ``repr`` was stored."""
    if isinstance(data, list):
        return [made(value) for value in data]
    if not isinstance(data, dict):
        return data
    if "tuple" in data:
        return tuple(made(value) for value in data["tuple"])
    known = {
        f"{cls.__module__}.{cls.__qualname__}": cls for cls in [*map(LOSSES.get, LOSSES.names()), *built_in()]
    }
    return known[data["class"]](**{name: made(value) for name, value in data["params"].items()})


def built_in() -> list[Any]:
    """The losses of this package, unregistered ones included."""
    return [member for name in losses.__all__ if isinstance(member := getattr(losses, name), type)]
