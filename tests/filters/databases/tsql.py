# Parses conditions of SQL Server and prints the structure of each. Read from the input: a JSON text a line. Answered: an object
# with `columns`, `texts` and `nodes`, or `error`.
import json
import sys

import sqlglot
from sqlglot import exp

for line in sys.stdin:
    condition = json.loads(line)
    try:
        statements = sqlglot.parse(f"SELECT fruits.nr FROM fruits CROSS JOIN baskets {condition}", read="tsql")
        if len(statements) != 1:
            raise ValueError(f"{len(statements)} statements")
        where = statements[0].args.get("where")
        nodes = list(where.walk()) if where else []
        texts = [str(node.this) for node in nodes if isinstance(node, exp.National)]
        texts += [str(node.this) for node in nodes if isinstance(node, exp.Literal) and node.is_string]
        answer = {
            "columns": [[part.name for part in node.parts] for node in nodes if isinstance(node, exp.Column)],
            "texts": texts,
            "nodes": sorted({type(node).__name__ for node in nodes}),
            "rest": [key for key, value in statements[0].args.items() if value and key not in ("kind", "expressions", "from", "from_", "joins", "where")],
        }
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer))
