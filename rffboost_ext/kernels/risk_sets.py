"""Sums over the rows at risk at each event, and the expected number of events of each row."""

from __future__ import annotations

from math import exp, log

from .kernel import kernel


@kernel("f8[2] f8[1] f8[1] i8[1] f8[2]* i8[1]*")
def sum_risk_sets(y, raw, weight, order, sums, place):  # type: ignore[no-untyped-def]
    """Set sums at each of T times of events, and return T, or -1 if `order` is not the stable order of the times.

    y (n, 2) holds events and times. The columns of `sums` (n, 5) are the time, the log of the weighted sum of
    ``exp(raw)`` at risk, number and weight of the events, and their share in the sum, by falling time. `place`
    (n,) is the row of `sums` of the last event which is not after the time of a row, T if there is none.
    """
    n_times, shift, total, i = 0, -1e300, 0.0, len(order) - 1
    while i >= 0:
        time, tied, n_events, event_weight = y[order[i], 1], 0.0, 0.0, 0.0
        while i >= 0 and y[order[i], 1] == time:
            row = order[i]
            if raw[row] > shift:
                # Exponents are relative to the largest score so far.
                total, tied = total * exp(shift - raw[row]), tied * exp(shift - raw[row])
                shift = raw[row]
            risk = weight[row] * exp(raw[row] - shift)
            total += risk
            if y[row, 0] > 0.0:
                n_events, event_weight, tied = n_events + 1.0, event_weight + weight[row], tied + risk
            place[row] = n_times
            i -= 1
            if i >= 0 and (y[order[i], 1] > time or (y[order[i], 1] == time and order[i] > row)):
                return -1
        if n_events > 0.0:
            sums[n_times, 0], sums[n_times, 1] = time, shift + log(total)
            sums[n_times, 2], sums[n_times, 3], sums[n_times, 4] = n_events, event_weight, min(tied / total, 1.0)
            n_times += 1
    return n_times


@kernel("f8[2] f8[1] f8[2] i8[1] f8[2]* f8[1]*")
def sum_hazards(y, raw, sums, place, hazard, expected):  # type: ignore[no-untyped-def]
    """Set the expected number of events of each row, (n,): its hazard, summed over times at which it is at risk.

    y (n, 2), `sums` (T, 5) and `place` (n,) are those of ``sum_risk_sets``. The columns of `hazard` (T, 2) are set
    to logs of the cumulative hazard of a score of 0: of censored rows, and by Efron's method of rows with events.
    """
    shift, total = -1e300, 0.0
    for k in range(len(sums) - 1, -1, -1):
        n_events, share, of_others, of_events = sums[k, 2], sums[k, 4], 0.0, 0.0
        for gone in range(int(n_events)):
            left = 1.0 - gone / n_events * share
            of_others += 1.0 / left
            of_events += (1.0 - gone / n_events) / left
        unit = log(sums[k, 3] / n_events) - sums[k, 1]
        if unit > shift:
            total, shift = total * exp(shift - unit), unit
        scale = exp(unit - shift)
        hazard[k, 1] = shift + log(total + scale * of_events)
        total += scale * of_others
        hazard[k, 0] = shift + log(total)
    for i in range(len(raw)):
        expected[i] = 0.0
        if place[i] < len(sums):
            expected[i] = exp(raw[i] + hazard[place[i], 1 if y[i, 0] > 0.0 else 0])
