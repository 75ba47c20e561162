"""Transition systems as DOT digraphs, the language of Graphviz.

::

    digraph crossing {
        start [shape=point]; start -> idle;
        idle -> "car in" [label="Cc"];
        "car in" -> crash [label="Tc", rate=0.01, failure=true, detected=false];
        crash [bad=true, props="Train.Tc,Car.Cc"];
    }

Nodes are states and edges transitions; the label of an edge is its action.  What else is read:

- ``initial=true`` at a node.  Also, as tools draw it: a node of shape point, none, plain or
  plaintext (or invisible) that nothing leads to, and whose own edges have no labels, is no state,
  and its edges lead to initial states.
- ``bad=true`` at a node.  Where no node says `bad`, those are bad that are drawn with a double
  line (shape doublecircle or doubleoctagon, ``peripheries=2``), as accepting states are.
- ``props="p,q"`` at a node: the propositions that hold there; a comma or a backslash within a name
  has a backslash before it.  At the graph, it names propositions, and so also those that hold
  nowhere.
- ``rate``, ``failure``, ``detected``, ``silent`` and ``component`` at an edge.  All but the rate
  belong to the action, and must agree where several edges have it.  Actions `i` and `tau` are
  silent unless they say ``silent=false``.

Everything else about nodes, edges and graphs is for drawing, and ignored.  Statements within a
subgraph count as if they stood outside; a subgraph as the end of an edge is refused, and so are
undirected graphs and HTML as the label of an edge.
"""

from whence.formats.dot.read import DotSystem, read_dot, read_dot_file
from whence.formats.dot.write import write_dot

__all__ = ["DotSystem", "read_dot", "read_dot_file", "write_dot"]
