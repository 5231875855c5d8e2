"""A loss as text, stored as an attribute of an XGBoost model."""

from __future__ import annotations

import json

import numpy as np

from ..core import Loss
from ..losses.registry import LOSSES
from ..persistence.values import Packer, Unpacker
from ..utils.registry import qualified_name


def loss_to_text(loss: Loss) -> str:
    """A loss as JSON: its storable form and arrays, or its class and parameters if it cannot be stored."""
    packer = Packer()
    try:
        packed = packer.pack(loss, "loss")
    except TypeError:
        return json.dumps({"class": qualified_name(type(loss)), "params": repr(loss.get_params(deep=False))})
    return json.dumps([packed, [array.tolist() for array in packer.arrays]])


def loss_from_text(text: str, given: str | Loss) -> Loss:
    """The loss that :func:`loss_to_text` has stored.

    Parameters
    ----------
    text : str
        The stored text.
    given : str or Loss
        The reader's own loss, which is returned if it equals the stored one.

    Raises
    ------
    ValueError
        If the stored loss is neither registered nor the given one.
    """
    given = LOSSES.create(given)
    if loss_to_text(given) == text:
        return given
    try:
        data = json.loads(text)
        if isinstance(data, dict):
            raise TypeError("a class without a storable form")
        packed, arrays = data
        loss = Unpacker([np.asarray(array) for array in arrays]).unpack(packed)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"the model was trained with the loss {text}, which is not registered here; pass it as loss=... to "
            f"the constructor before load_model"
        ) from error
    return LOSSES.create(loss)
