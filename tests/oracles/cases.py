"""Networks and routings whose paths an oracle knows."""

from oracles import routes

# Network, routing, its paths; val over the paths of one phase.
HOPS = [
    ("mesh:8x8", "dor", routes.dor_mesh),
    ("mesh:4x3x2,p=2", "dor", routes.dor_mesh),
    ("mesh:6x6", "min", routes.table),
    ("torus:8x8", "dor", routes.dor_torus),
    ("torus:5x4x3", "dor", routes.dor_torus),
    ("torus:2x2x5,double=true", "dor", routes.dor_torus),
    ("hypercube:6,p=2", "dor", routes.dor_mesh),
    ("folded-hypercube:5,p=2", "min", routes.table),
    ("clos:radix=8,levels=3", "nca", routes.nca),
    ("clos:radix=8,levels=3,taper=2", "nca", routes.nca),
    ("xgft:down=4x3x4,up=4x2", "anca", routes.nca),
    ("dragonfly-plus:leaf=4,spine=4,p=4,h=2", "min", routes.table),
    ("myriclos:64", "min", routes.table),
    ("hyperx:4x4,tile=2x2", "dor", lambda g: routes.hyperx(g, 1)),
    ("hyperx:4x3x2,p=3", "min", lambda g: routes.hyperx(g, 2)),
    ("hyperx:4x3,trunk=2,p=4", "dor", lambda g: routes.hyperx(g, 1)),
    ("fattree:k=4,levels=3", "nca", routes.nca),
    ("fattree:k=3,levels=3", "anca", routes.nca),
    ("dragonfly:a=4,h=2,p=2", "min", routes.dragonfly),
    ("dragonfly:a=4,h=2,p=2,g=4", "min", routes.dragonfly),
    ("slimfly:q=5,p=2", "min", routes.table),
    ("slimfly:q=4,p=3", "min", routes.table),
    ("flex:4x4x3,p=2", "min", routes.flex),
    ("galaxyfly:n=3,q=5,a=2,p=2", "min", routes.galaxyfly),
    ("galaxyfly:n=1,q=13,a=3", "min:common=random", lambda graph: routes.galaxyfly(graph, best=False)),
    ("flex:4x4x3,p=2", "min-spread", routes.table),
    ("flex:3x3x5,p=2", "min", routes.table),
    ("nesttree:t=4,u=4,endpoints=128,upper=4x8", "dor", routes.nested),
    ("nestghc:t=2,u=1,endpoints=48,upper=2x6x4", "dor", routes.nested),
    ("nesttree:t=4,u=4,endpoints=128,upper=4x8", "nca", lambda graph: routes.nested(graph, drawn=True)),
    ("nestghc:t=2,u=1,endpoints=48,upper=2x6x4", "nca", lambda graph: routes.nested(graph, drawn=True)),
    ("nestghc:t=2,u=2,endpoints=32,upper=4x4", "anca", lambda graph: routes.nested(graph, drawn=True)),
]
DETOURS = [
    ("mesh:5x4", routes.dor_mesh, 1),
    ("torus:4x4", routes.dor_torus, 2),
    ("hyperx:4x4,p=2", lambda g: routes.hyperx(g, 1), 1),
    ("dragonfly:a=4,h=2", routes.dragonfly, 2),
    ("slimfly:q=3,p=2", routes.table, 2),
    ("flex:3x3x3,p=2", routes.flex, 2),
    ("fattree:k=2,levels=3", routes.table, 4),
]
