"""Sums over the rows at risk at each event, of rows in the order of their times."""

from __future__ import annotations

from math import exp, log

from .kernel import kernel


@kernel("f8[2] f8[1] f8[1] i8[1] f8[2]*")
def sum_risk_sets(y, raw, weight, order, sums):  # type: ignore[no-untyped-def]
    """Set sums at each of T times of events, and return T, or -1 if `order` is not the stable order of the times.

    Events and times y (n, 2), scores and weights (n,) are those of the rows `order` (n,). The columns of `sums`
    (n, 6) are the time; a shift and the weighted sum of ``exp(raw - shift)`` at risk; number and weight of the
    events, and their share in the sum, by falling time.
    """
    n_times, shift, total, tied, n_events, event_weight = 0, -1e300, 0.0, 0.0, 0.0, 0.0
    for i in range(len(y) - 1, -1, -1):
        if raw[i] > shift:
            # Exponents are relative to the largest score so far.
            total, tied = total * exp(shift - raw[i]), tied * exp(shift - raw[i])
            shift = raw[i]
        risk = weight[i] * exp(raw[i] - shift)
        total += risk
        if y[i, 0] > 0.0:
            n_events, event_weight, tied = n_events + 1.0, event_weight + weight[i], tied + risk
        time, before = y[i, 1], y[i - 1, 1] if i > 0 else -1.0
        if before > time or (before == time and order[i - 1] > order[i]):
            return -1
        if before < time:
            if n_events > 0.0:
                share = min(tied / total, 1.0)
                sums[n_times, 0], sums[n_times, 1], sums[n_times, 2] = time, shift, total
                sums[n_times, 3], sums[n_times, 4], sums[n_times, 5] = n_events, event_weight, share
                n_times += 1
            tied = n_events = event_weight = 0.0
    return n_times


@kernel("f8[2] f8[1] f8[2] f8[1]*")
def sum_hazards(y, raw, sums, expected):  # type: ignore[no-untyped-def]
    """Set the expected number of events of each row, (n,): its hazard, summed over times at which it is at risk.

    Rows and `sums` (T, 6) are those of ``sum_risk_sets``. Rows with events count less at their time, by Efron's
    method.
    """
    # The hazard of a score of `shift` up to a time of events: of censored rows, and of rows with an event there.
    k, shift, hazard, of_events = len(sums) - 1, 1e300, 0.0, 0.0
    for i in range(len(y)):
        while k >= 0 and sums[k, 0] <= y[i, 1]:
            hazard *= exp(sums[k, 1] - shift)
            shift, of_events, n_events = sums[k, 1], hazard, sums[k, 3]
            unit = sums[k, 4] / n_events / sums[k, 2]
            for gone in range(int(n_events)):
                left = 1.0 - gone / n_events * sums[k, 5]
                hazard += unit / left
                of_events += unit * (1.0 - gone / n_events) / left
            k -= 1
        expected[i] = exp(raw[i] - shift) * (of_events if y[i, 0] > 0.0 else hazard)


@kernel("f8[2] f8[1] f8[2] f8[1]*")
def risk_set_losses(y, raw, sums, losses):  # type: ignore[no-untyped-def]
    """Set the part of each row in the negative log likelihood, (n,): 0 without an event.

    Rows and `sums` (T, 6) are those of ``sum_risk_sets``. For m events of the sum E in a risk set of the sum S it
    is the mean of ``log(S - l E / m)`` over l from 0 to m - 1, by Efron's method, less the score.
    """
    k, log_sum = len(sums) - 1, 0.0
    for i in range(len(y)):
        while k >= 0 and sums[k, 0] <= y[i, 1]:
            log_sum, n_events = sums[k, 1] + log(sums[k, 2]), sums[k, 3]
            for gone in range(1, int(n_events)):
                log_sum += log(1.0 - gone / n_events * sums[k, 5]) / n_events
            k -= 1
        losses[i] = log_sum - raw[i] if y[i, 0] > 0.0 else 0.0
