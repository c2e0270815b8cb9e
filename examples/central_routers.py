"""Hands a network to NetworkX: which routers do most shortest paths cross?"""

import networkx as nx

import topoloom

graph = topoloom.network("mesh:6x6").to_networkx()
centrality = nx.betweenness_centrality(nx.Graph(graph))
for router in sorted(centrality, key=centrality.__getitem__, reverse=True)[:4]:
    print(f"router {router}: {centrality[router]:.3f}")
