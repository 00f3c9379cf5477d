"""One request, one answer, with nothing but Python's own library.

Reads {url, entryPoint, operation} from standard input, sends the operation by eth_sendUserOperationSync three ways, and
writes what each answers: accepted at once, the receipt, and the error of an operation that cannot go.
"""

import json
import sys
import urllib.error
import urllib.request

given = json.load(sys.stdin)


def call(method, *params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": list(params)})
    request = urllib.request.Request(given["url"], body.encode(), {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        return json.load(error)


def send(operation, *wait):
    return call("eth_sendUserOperationSync", operation, given["entryPoint"], *wait)


operation = given["operation"]
answers = {
    "accepted": send(operation, 10_000, "accepted"),
    "included": send(operation, 30_000),
    "refused": send({**operation, "callData": "0x12"}, 10_000),
}
json.dump(answers, sys.stdout)
