"""A loss as text, so that a saved model knows what it was trained for."""

from __future__ import annotations

import json
from typing import Any

from .. import losses
from ..core import Loss, Spec
from ..losses import LOSSES


def described(loss: Loss) -> str:
    """Name and hyperparameters of a loss, as JSON."""
    return json.dumps(as_data(loss))


def as_data(value: Any) -> Any:
    """A hyperparameter, or a loss inside a loss, as what JSON has; its ``repr`` where it has nothing like it."""
    if isinstance(value, Spec):
        params = {name: as_data(inner) for name, inner in value.get_params(deep=False).items()}
        return {"class": f"{type(value).__module__}.{type(value).__qualname__}", "params": params}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return {"repr": repr(value)}


def restored(text: str, given: str | Loss) -> Loss:
    """The loss behind :func:`described`.

    Parameters
    ----------
    text : str
        What was stored.
    given : str or Loss
        The loss that the reader has at hand; taken if it is the one that was stored.

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
    """The value behind :func:`as_data`; a KeyError if it holds a class that is not registered."""
    if not isinstance(data, dict):
        return data
    known = {
        f"{cls.__module__}.{cls.__qualname__}": cls for cls in [*map(LOSSES.get, LOSSES.names()), *built_in()]
    }
    return known[data["class"]](**{name: made(value) for name, value in data["params"].items()})


def built_in() -> list[Any]:
    """The losses of this package, also those without a name of their own."""
    return [member for name in losses.__all__ if isinstance(member := getattr(losses, name), type)]
