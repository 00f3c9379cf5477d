// Operations of EntryPoint v0.7 with go-ethereum's packages, by one URL: one that its account pays, one sponsored by
// pm_sponsorUserOperation. It reads {url, entryPoint, factory, target, key} from standard input and writes the receipts.
package main

import (
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/accounts"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rpc"
)

const contracts = `[
 {"type":"function","name":"createAccount","inputs":[{"type":"address","name":"owner"},{"type":"uint256","name":"salt"}]},
 {"type":"function","name":"getAddress","inputs":[{"type":"address","name":"owner"},{"type":"uint256","name":"salt"}]},
 {"type":"function","name":"getNonce","inputs":[{"type":"address","name":"sender"},{"type":"uint192","name":"key"}]},
 {"type":"function","name":"execute","inputs":[{"type":"address","name":"dest"},{"type":"uint256","name":"value"},{"type":"bytes","name":"func"}]}]`

// Fields of an operation, as the JSON-RPC has them.
type operation map[string]string

var given struct {
	URL        string
	EntryPoint common.Address
	Factory    common.Address
	Target     common.Address
	Key        string
}
var limits = []string{"callGasLimit", "verificationGasLimit", "preVerificationGas"}
var payment = []string{"paymaster", "paymasterData", "paymasterVerificationGasLimit", "paymasterPostOpGasLimit"}
var client *rpc.Client
var contract abi.ABI

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func request[T any](method string, params ...any) T {
	var result T
	if err := client.Call(&result, method, params...); err != nil {
		must(0, fmt.Errorf("%s: %w", method, err))
	}
	return result
}

func call(to common.Address, data []byte) []byte {
	asked := map[string]any{"to": to, "data": hexutil.Bytes(data)}
	return request[hexutil.Bytes]("eth_call", asked, "latest")
}

func bytesOf(hex string) []byte {
	if hex == "" {
		return nil
	}
	return must(hexutil.Decode(hex))
}

func number(hex string) *big.Int {
	if hex == "" {
		return new(big.Int)
	}
	return must(hexutil.DecodeBig(hex))
}

// Two numbers of 16 bytes each.
func joined(high, low string) []byte {
	word := make([]byte, 32)
	number(high).FillBytes(word[:16])
	number(low).FillBytes(word[16:])
	return word
}

func word(value *big.Int) []byte { return common.LeftPadBytes(value.Bytes(), 32) }

func concat(parts ...[]byte) (joined []byte) {
	for _, part := range parts {
		joined = append(joined, part...)
	}
	return joined
}

func hashOf(op operation, chainID *big.Int) []byte {
	paymasterAndData := bytesOf(op["paymaster"])
	if len(paymasterAndData) > 0 {
		gas := joined(op["paymasterVerificationGasLimit"], op["paymasterPostOpGasLimit"])
		paymasterAndData = concat(paymasterAndData, gas, bytesOf(op["paymasterData"]))
	}
	packed := concat(
		common.LeftPadBytes(bytesOf(op["sender"]), 32),
		word(number(op["nonce"])),
		crypto.Keccak256(bytesOf(op["factory"]), bytesOf(op["factoryData"])),
		crypto.Keccak256(bytesOf(op["callData"])),
		joined(op["verificationGasLimit"], op["callGasLimit"]),
		word(number(op["preVerificationGas"])),
		joined(op["maxPriorityFeePerGas"], op["maxFeePerGas"]),
		crypto.Keccak256(paymasterAndData),
	)
	entryPoint := common.LeftPadBytes(given.EntryPoint.Bytes(), 32)
	return crypto.Keccak256(crypto.Keccak256(packed), entryPoint, word(chainID))
}

func draft() operation {
	owner := crypto.PubkeyToAddress(must(crypto.HexToECDSA(strings.TrimPrefix(given.Key, "0x"))).PublicKey)
	getAddress := must(contract.Pack("getAddress", owner, new(big.Int)))
	sender := common.BytesToAddress(call(given.Factory, getAddress))
	nonce := new(big.Int).SetBytes(call(given.EntryPoint, must(contract.Pack("getNonce", sender, new(big.Int)))))
	op := operation{
		"sender":    sender.Hex(),
		"nonce":     hexutil.EncodeBig(nonce),
		"callData":  hexutil.Encode(must(contract.Pack("execute", given.Target, new(big.Int), []byte{0x12, 0x34}))),
		"signature": "0x" + strings.Repeat("ff", 15) + "f0" + strings.Repeat("00", 16) + "7a" + strings.Repeat("aa", 31) + "1c",
	}
	for name, fee := range request[map[string]operation]("pimlico_getUserOperationGasPrice")["standard"] {
		op[name] = fee
	}
	if len(request[hexutil.Bytes]("eth_getCode", sender, "latest")) == 0 {
		op["factory"] = given.Factory.Hex()
		op["factoryData"] = hexutil.Encode(must(contract.Pack("createAccount", owner, new(big.Int))))
	}
	return op
}

// Takes what the answer has of these fields; others are not of the operation.
func (op operation) take(answer map[string]any, names ...string) {
	for _, name := range names {
		if value, ok := answer[name].(string); ok {
			op[name] = value
		}
	}
}

func send(op operation) json.RawMessage {
	key := must(crypto.HexToECDSA(strings.TrimPrefix(given.Key, "0x")))
	chainID := (*big.Int)(request[*hexutil.Big]("eth_chainId"))
	signature := must(crypto.Sign(accounts.TextHash(hashOf(op, chainID)), key))
	signature[64] += 27
	op["signature"] = hexutil.Encode(signature)
	hash := request[string]("eth_sendUserOperation", op, given.EntryPoint)
	for range 600 {
		receipt := request[json.RawMessage]("eth_getUserOperationReceipt", hash)
		if string(receipt) != "null" {
			return receipt
		}
		time.Sleep(100 * time.Millisecond)
	}
	return must(json.RawMessage{}, fmt.Errorf("%s has no receipt", hash))
}

func main() {
	must(0, json.NewDecoder(os.Stdin).Decode(&given))
	client = must(rpc.Dial(given.URL))
	contract = must(abi.JSON(strings.NewReader(contracts)))
	own := draft()
	estimate := request[map[string]any]("eth_estimateUserOperationGas", own, given.EntryPoint)
	own.take(estimate, limits...)
	receipts := map[string]json.RawMessage{"selfPaid": send(own)}
	sponsored := draft()
	answer := request[map[string]any]("pm_sponsorUserOperation", sponsored, given.EntryPoint)
	sponsored.take(answer, append(limits, payment...)...)
	receipts["sponsored"] = send(sponsored)
	must(0, json.NewEncoder(os.Stdout).Encode(receipts))
}
