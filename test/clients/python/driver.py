"""Operations of EntryPoint v0.8 with web3.py and eth-account, by one URL: one that its account pays, one sponsored by ERC-7677.

Reads {url, entryPoint, factory, target, key} from standard input and writes the receipts.
"""

import json
import sys
import time

from eth_account import Account
from eth_account.messages import encode_typed_data
from web3 import HTTPProvider, Web3

SIMPLE = [
    {
        "name": "createAccount",
        "type": "function",
        "stateMutability": "nonpayable",
        "inputs": [{"name": "owner", "type": "address"}, {"name": "salt", "type": "uint256"}],
        "outputs": [{"name": "account", "type": "address"}],
    },
    {
        "name": "getAddress",
        "type": "function",
        "stateMutability": "view",
        "inputs": [{"name": "owner", "type": "address"}, {"name": "salt", "type": "uint256"}],
        "outputs": [{"name": "account", "type": "address"}],
    },
    {
        "name": "execute",
        "type": "function",
        "stateMutability": "nonpayable",
        "inputs": [
            {"name": "dest", "type": "address"},
            {"name": "value", "type": "uint256"},
            {"name": "func", "type": "bytes"},
        ],
        "outputs": [],
    },
]
GET_NONCE = {
    "name": "getNonce",
    "type": "function",
    "stateMutability": "view",
    "inputs": [{"name": "sender", "type": "address"}, {"name": "key", "type": "uint192"}],
    "outputs": [{"name": "nonce", "type": "uint256"}],
}
PACKED = [
    ("sender", "address"),
    ("nonce", "uint256"),
    ("initCode", "bytes"),
    ("callData", "bytes"),
    ("accountGasLimits", "bytes32"),
    ("preVerificationGas", "uint256"),
    ("gasFees", "bytes32"),
    ("paymasterAndData", "bytes"),
]
DUMMY = "0x" + "ff" * 15 + "f0" + "00" * 16 + "7a" + "aa" * 31 + "1c"

given = json.load(sys.stdin)
provider = HTTPProvider(given["url"])
w3 = Web3(provider)
entry_point = Web3.to_checksum_address(given["entryPoint"])
factory = w3.eth.contract(Web3.to_checksum_address(given["factory"]), abi=SIMPLE)
reader = w3.eth.contract(entry_point, abi=[GET_NONCE])
owner = Account.from_key(given["key"])
chain_id = w3.eth.chain_id
assert w3.net.version == str(chain_id)


def request(method, *params):
    answer = provider.make_request(method, list(params))
    if "error" in answer:
        raise SystemExit(f"{method}: {answer['error']}")
    return answer["result"]


def number(value):
    return int(value or "0x0", 16)


def joined(high, low):
    return (number(high) << 128 | number(low)).to_bytes(32, "big")


def code(op, address, data, *limits):
    if op.get(address) is None:
        return b""
    gas = b"".join(number(op.get(limit)).to_bytes(16, "big") for limit in limits)
    return bytes.fromhex(op[address][2:]) + gas + bytes.fromhex(op[data][2:])


def sign(op):
    limits = ("paymasterVerificationGasLimit", "paymasterPostOpGasLimit")
    message = {
        "sender": op["sender"],
        "nonce": number(op["nonce"]),
        "initCode": code(op, "factory", "factoryData"),
        "callData": bytes.fromhex(op["callData"][2:]),
        "accountGasLimits": joined(op["verificationGasLimit"], op["callGasLimit"]),
        "preVerificationGas": number(op["preVerificationGas"]),
        "gasFees": joined(op["maxPriorityFeePerGas"], op["maxFeePerGas"]),
        "paymasterAndData": code(op, "paymaster", "paymasterData", *limits),
    }
    types = {"PackedUserOperation": [{"name": name, "type": kind} for name, kind in PACKED]}
    domain = {"name": "ERC4337", "version": "1", "chainId": chain_id, "verifyingContract": entry_point}
    signed = owner.sign_message(encode_typed_data(domain, types, message))
    return "0x" + signed.signature.hex().removeprefix("0x")


def draft():
    sender = factory.functions.getAddress(owner.address, 0).call()
    fees = request("pimlico_getUserOperationGasPrice")["standard"]
    target = Web3.to_checksum_address(given["target"])
    call = factory.encode_abi("execute", [target, 0, b"\x12\x34"])
    nonce = reader.functions.getNonce(sender, 0).call()
    op = {"sender": sender, "nonce": hex(nonce), "callData": call, "signature": DUMMY, **fees}
    if len(w3.eth.get_code(sender)) == 0:
        op["factory"] = factory.address
        op["factoryData"] = factory.encode_abi("createAccount", [owner.address, 0])
    return op


def send(op):
    user_op_hash = request("eth_sendUserOperation", {**op, "signature": sign(op)}, entry_point)
    for _ in range(600):
        receipt = request("eth_getUserOperationReceipt", user_op_hash)
        if receipt is not None:
            return receipt
        time.sleep(0.1)
    raise SystemExit(f"{user_op_hash} has no receipt")


def estimated(op):
    return {**op, **request("eth_estimateUserOperationGas", op, entry_point)}


def sponsored(op):
    asked = (entry_point, hex(chain_id), {})
    stub = request("pm_getPaymasterStubData", op, *asked)
    limited = estimated({**op, **{name: stub[name] for name in stub if name.startswith("paymaster")}})
    data = request("pm_getPaymasterData", limited, *asked)
    return {**limited, **{name: data[name] for name in data if name.startswith("paymaster")}}


own = send(estimated(draft()))
json.dump({"selfPaid": own, "sponsored": send(sponsored(draft()))}, sys.stdout)
