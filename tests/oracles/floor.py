"""Cost of a network, slowly: coordinates by hand, every cable on its own, prices as printed in the papers."""

import math


def places(family, numbers, routers):
    """Return the place of every router in metres, and the length of a cable between two routers of one place."""
    if family in {"mesh", "torus", "hyperx", "flex"}:
        return [digits(router, numbers) for router in range(routers)], 2.0
    cabinet, inside = {
        "dragonfly": (lambda router: router // numbers[0], 2.0),
        "slimfly": (lambda router: router // numbers[0] % numbers[0], 2.0),
        "fattree": (lambda router: pod(router, *numbers), 1.0),
        "galaxyfly": (lambda router: part_of_a_galaxy(router, *numbers), 1.25),
    }[family]
    cabinets = [cabinet(router) for router in range(routers)]
    return on_floor(cabinets), inside


def digits(router, sides):
    return [router // math.prod(sides[:d]) % side for d, side in enumerate(sides)]


def pod(router, k, levels):
    """k leaves and the k routers above them are a pod; k routers of one further level share a cabinet."""
    width = k ** (levels - 1)
    level, word = divmod(router, width)
    return max(0, level - 1) * (width // k) + word // k


def part_of_a_galaxy(router, q, a, p, terminals=360):
    """Clusters that have at most 360 terminals together, or equal numbers of the supernodes of one."""
    cluster, own = divmod(router, q * a)
    if q * a * p <= terminals:
        return cluster // (terminals // (q * a * p))
    cabinets = math.ceil(q / max(1, terminals // (a * p)))
    return cluster * cabinets + own // a // math.ceil(q / cabinets)


def on_floor(cabinets, width=1.0, depth=1.0):
    columns = math.ceil(math.sqrt(max(cabinets) + 1))
    return [(cabinet % columns * width, cabinet // columns * depth) for cabinet in cabinets]


def length(a, b, inside, overhead=2.0):
    way = sum(abs(p - q) for p, q in zip(a, b, strict=True))
    return way + overhead if way else inside


def edr(lengths, ports):
    """Prices of the FleX paper: f(x) = 0.1167 x + 4.3410 $ per Gb/s at 100 Gb/s, f(k) = 128 k + 15029 $."""
    return sum(100 * (0.1167 * x + 4.3410) for x in lengths) + sum(128 * k + 15029 for k in ports)
