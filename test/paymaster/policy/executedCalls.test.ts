import { createRequire } from 'node:module'
import fc from 'fast-check'
import {
  type Address,
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  type Hex,
  parseAbi,
  parseAbiParameters,
  toHex,
} from 'viem'
import { describe, expect, test } from 'vitest'
import { call, fromHex } from '../../../src/evm/index.js'
import {
  type DecodedCall,
  decodeCalls,
  redemptionsOf,
} from '../../../src/paymaster/policy/decodeCalls.js'
import { CONTRACT, contextOn, done, messageTo, worldOf } from '../../evm/harness.js'
import { compileSolidity } from '../../support/chain/compileSolidity.js'
import { randomRuns } from '../../support/runs.js'

/*
 * What a policy reads is what accounts do: call data, right and mutated, is run in our EVM, and the calls
 * that the account makes are compared with those that were read.
 */

const contracts = compileSolidity(`
struct Call { address to; uint256 value; bytes data; }

/** Decodes as the compiler does; modes like the accounts of ERC-7579 that ignore the selector in them. */
contract Compiled {
    receive() external payable {}
    function make(address to, uint256 value, bytes memory data) internal {
        (bool done,) = to.call{value: value}(data);
        require(done);
    }
    function execute(address to, uint256 value, bytes calldata data) external { make(to, value, data); }
    function execute(Call calldata c) external { make(c.to, c.value, c.data); }
    function executeBatch(address[] calldata to, bytes[] calldata data) external {
        for (uint256 i; i < to.length; i++) make(to[i], 0, data[i]);
    }
    function executeBatch(address[] calldata to, uint256[] calldata value, bytes[] calldata data) external {
        for (uint256 i; i < to.length; i++) make(to[i], value.length == 0 ? 0 : value[i], data[i]);
    }
    function executeBatch(Call[] calldata calls) external {
        for (uint256 i; i < calls.length; i++) make(calls[i].to, calls[i].value, calls[i].data);
    }
    function execute(bytes32 mode, bytes calldata execution) external {
        if (mode[0] == 0x01) {
            Call[] memory calls = abi.decode(execution, (Call[]));
            for (uint256 i; i < calls.length; i++) make(calls[i].to, calls[i].value, calls[i].data);
        } else if (mode[0] == 0xff) {
            (bool done,) = address(bytes20(execution[:20])).delegatecall(execution[20:]);
            require(done);
        } else {
            make(address(bytes20(execution[:20])), uint256(bytes32(execution[20:52])), execution[52:]);
        }
    }
}

/** An account of ERC-7821 that takes bytes from where offsets lead, masks nothing and checks no bounds. */
contract Loose {
    receive() external payable {}
    function execute(bytes32 mode, bytes calldata execution) public payable {
        bytes10 m = bytes10(mode) & 0xffff00000000ffffffff;
        if (m == 0x01000000000078210002) {
            bytes[] calldata batches;
            assembly {
                let at := add(execution.offset, calldataload(execution.offset))
                batches.offset := add(at, 32)
                batches.length := calldataload(at)
            }
            for (uint256 i; i < batches.length; i++) batch(batches[i]);
        } else {
            require(m == 0x01000000000078210001 || m == 0x01000000000000000000);
            batch(execution);
        }
    }
    function batch(bytes calldata execution) internal {
        uint256 length; uint256 first;
        assembly {
            let at := add(execution.offset, calldataload(execution.offset))
            first := add(at, 32)
            length := calldataload(at)
        }
        for (uint256 i; i < length; i++) {
            assembly {
                let c := add(first, calldataload(add(first, mul(i, 32))))
                let d := add(c, calldataload(add(c, 64)))
                let to := calldataload(c)
                if iszero(to) { to := address() }
                calldatacopy(0, add(d, 32), calldataload(d))
                if iszero(call(gas(), to, calldataload(add(c, 32)), 0, calldataload(d), 0, 0)) { revert(0, 0) }
            }
        }
    }
}

struct Caveat { address enforcer; bytes terms; bytes args; }
struct Delegation {
    address delegate; address delegator; bytes32 authority; Caveat[] caveats; uint256 salt; bytes signature;
}

/** The way of the DelegationManager: hooks of each caveat, then the calls by the root delegator, here in its stead. */
contract Manager is Compiled {
    function redeemDelegations(bytes[] calldata contexts, bytes32[] calldata modes, bytes[] calldata executions)
        external
    {
        for (uint256 i; i < contexts.length; i++) {
            Delegation[] memory chain = abi.decode(contexts[i], (Delegation[]));
            for (uint256 j; j < chain.length; j++)
                for (uint256 k; k < chain[j].caveats.length; k++)
                    make(chain[j].caveats[k].enforcer, 0, hex"a1a1a1a1");
            address root = chain.length == 0 ? msg.sender : chain[chain.length - 1].delegator;
            make(root, 0, abi.encodeCall(this.executeFromExecutor, (modes[i], executions[i])));
        }
    }
    function executeFromExecutor(bytes32 mode, bytes calldata execution) external {}
}
`)

const load = createRequire(import.meta.url)
const simple = load('account-abstraction-v08/artifacts/Simple7702Account.json') as {
  deployedBytecode: Hex
}

const codes = {
  compiled: contracts.Compiled!.runtime,
  loose: contracts.Loose!.runtime,
  simple7702: simple.deployedBytecode,
} as const

const ENTRY_POINT: Address = '0x4337084d9e255ff0702461cf8895ce9e3b5ff108'

type Made = Pick<DecodedCall, 'to' | 'value' | 'data' | 'delegate'>

/** The calls that the account with this code made of call data that it took; undefined = it took none. */
function execute(code: Hex, callData: Hex): readonly Made[] | undefined {
  const balance = 1n << 80n
  const state = worldOf({ [CONTRACT]: { code, balance }, [ENTRY_POINT]: { balance } })
  const data = fromHex(callData)
  const message = messageTo(CONTRACT, { from: ENTRY_POINT, data, gas: 8_000_000 })
  const { success, record } = done(call(contextOn(state), message))
  if (!success) return undefined
  return (record?.root.calls ?? []).map(({ to, value, input, kind }) => ({
    to,
    value,
    data: toHex(input),
    delegate: kind === 'DELEGATECALL',
  }))
}

const structs = parseAbiParameters('(address to, uint256 value, bytes data)[]')
const abi = parseAbi([
  'struct Call { address to; uint256 value; bytes data; }',
  'function execute(address to, uint256 value, bytes data)',
  'function execute(Call call)',
  'function executeBatch(address[] to, bytes[] data)',
  'function executeBatch(address[] to, uint256[] value, bytes[] data)',
  'function executeBatch(Call[] calls)',
  'function execute(bytes32 mode, bytes execution)',
  'function redeemDelegations(bytes[] contexts, bytes32[] modes, bytes[] executions)',
])

type Wanted = { readonly to: Address; readonly value: bigint; readonly data: Hex }

const target = fc
  .integer({ min: 1, max: 9 })
  .map((digit): Address => `0x${String(digit).repeat(40)}`)
const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((each): Hex => toHex(each))
const wanted: fc.Arbitrary<Wanted> = fc.record({
  to: target,
  value: fc.bigInt({ min: 0n, max: 1n << 20n }),
  data: bytes(33),
})
const batch = fc.array(wanted, { maxLength: 3 })
const suffix: Hex = `0x${Buffer.from('baseapp').toString('hex')}070080218021802180218021802180218021`

function encode(functionName: string, args: readonly unknown[]): Hex {
  return encodeFunctionData({ abi, functionName, args } as never)
}
function modeOf(head: string): Hex {
  return `0x${head.padEnd(64, '0')}`
}
function batchWith(calls: readonly Wanted[], opData: Hex | undefined): Hex {
  return opData === undefined
    ? encodeAbiParameters(structs, [calls])
    : encodeAbiParameters([...structs, { type: 'bytes' }], [calls, opData])
}
const maybeOpData = fc.option(bytes(40), { nil: undefined })

/** Call data as wallets write it. */
const written: fc.Arbitrary<Hex> = fc.oneof(
  wanted.map(({ to, value, data }) => encode('execute', [to, value, data])),
  wanted.map((each) => encode('execute', [each])),
  batch.map((calls) => encode('executeBatch', [calls])),
  batch.map((calls) =>
    encode('executeBatch', [calls.map(({ to }) => to), calls.map(({ data }) => data)]),
  ),
  batch.map((calls) =>
    encode('executeBatch', [
      calls.map(({ to }) => to),
      calls.map(({ value }) => value),
      calls.map(({ data }) => data),
    ]),
  ),
  wanted.map(({ to, value, data }) =>
    encode('execute', [
      modeOf('00'),
      encodePacked(['address', 'uint256', 'bytes'], [to, value, data]),
    ]),
  ),
  wanted.map(({ to, data }) =>
    encode('execute', [modeOf('ff'), encodePacked(['address', 'bytes'], [to, data])]),
  ),
  batch.map((calls) => encode('execute', [modeOf('01'), batchWith(calls, undefined)])),
  fc
    .tuple(batch, maybeOpData)
    .map(([calls, opData]) =>
      encode('execute', [modeOf('01000000000078210001'), batchWith(calls, opData)]),
    ),
  fc
    .array(fc.tuple(batch, maybeOpData), { maxLength: 3 })
    .map((batches) =>
      encode('execute', [
        modeOf('01000000000078210002'),
        encodeAbiParameters(
          [{ type: 'bytes[]' }],
          [batches.map(([calls, opData]) => batchWith(calls, opData))],
        ),
      ]),
    ),
)

type Mutation = {
  readonly at: number
  readonly value: number
  readonly kind: 'byte' | 'word' | 'cut' | 'add' | 'copy'
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat({ max: 1_000 }),
  value: fc.oneof(
    fc.nat({ max: 8 }).map((words) => words * 32),
    fc.nat({ max: 255 }),
  ),
  kind: fc.constantFrom('byte', 'word', 'cut', 'add', 'copy'),
})

/** Changes a byte or word of the arguments, cuts or adds bytes, or copies a word onto another one. */
function mutate(callData: Hex, { at, value, kind }: Mutation): Hex {
  const data = Buffer.from(callData.slice(2), 'hex')
  const words = Math.floor((data.length - 4) / 32)
  if (kind === 'cut') return toHex(data.subarray(0, Math.max(4, data.length - (value % 64))))
  if (kind === 'add') return concatHex([toHex(data), toHex(Buffer.alloc(value % 65, at))])
  if (words === 0) return callData
  const place = 4 + (at % words) * 32
  if (kind === 'byte') data[4 + (at % (data.length - 4))] = value % 256
  else if (kind === 'word') data.writeUIntBE(value, Math.min(place + 26, data.length - 6), 6)
  else data.copy(data, 4 + (value % data.length), place, place + 32)
  return toHex(data)
}

const sent = fc
  .tuple(written, fc.array(mutation, { maxLength: 3 }), fc.nat({ max: 2 }))
  .map(([callData, mutations, suffixes]) =>
    concatHex([mutations.reduce(mutate, callData), ...Array(suffixes).fill(suffix)]),
  )

function readCalls(callData: Hex): readonly Made[] | undefined {
  return decodeCalls(callData)?.map(({ to, value, data, delegate }) => ({
    to,
    value,
    data,
    delegate,
  }))
}

/** A call to the zero address is one of the account to itself in ERC-7821; a policy must allow both. */
function withSelf(calls: readonly Made[] | undefined, code: Hex) {
  const isSelf = ({ to }: Made) => code === codes.loose && /^0x0+$/.test(to)
  return calls?.map((each) => (isSelf(each) ? { ...each, to: CONTRACT } : each))
}

describe.each(Object.entries(codes))('the account %s', (name, code) => {
  test('does what was read of call data, whatever was done to it', () => {
    let read = 0
    fc.assert(
      fc.property(sent, (callData) => {
        const calls = readCalls(callData)
        const made = calls && execute(code, callData)
        if (made === undefined || isForeign(name, callData)) return
        read += 1
        expect(made).toEqual(isUnknownTo(name, callData) ? [] : withSelf(calls, code))
      }),
      { numRuns: randomRuns(20_000) },
    )
    // Mutations that nobody can read must not be all that was tried.
    expect(read).toBeGreaterThan(randomRuns(20_000) / 20)
  })
})

/** Its fallback takes functions that it does not have, and does nothing. */
function isUnknownTo(name: string, callData: Hex): boolean {
  return name === 'simple7702' && !/^0x(b61d27f6|34fcd5be)/.test(callData)
}

/** A batch of batches for an account that ignores the selector in a mode: the next test's. */
function isForeign(name: string, callData: Hex): boolean {
  return name !== 'loose' && callData.startsWith(`0xe9ae5c5301000000000078210002`)
}

test('a batch of batches that an account takes for one batch calls nobody: its targets are lengths', () => {
  fc.assert(
    fc.property(sent, (callData) => {
      if (!isForeign('compiled', callData) || readCalls(callData) === undefined) return
      for (const { to, value } of execute(codes.compiled, callData) ?? []) {
        expect(BigInt(to)).toBeLessThan(BigInt(callData.length))
        expect([32n, 64n]).toContain(value)
      }
    }),
    { numRuns: randomRuns(20_000) },
  )
})

const delegations = parseAbiParameters(
  '(address delegate, address delegator, bytes32 authority, (address enforcer, bytes terms, bytes args)[] caveats, uint256 salt, bytes signature)[]',
)
const delegation = fc.record({
  delegate: target,
  delegator: target,
  authority: fc.constant<Hex>(`0x${'ff'.repeat(32)}`),
  caveats: fc.array(fc.record({ enforcer: target, terms: bytes(40), args: bytes(5) }), {
    maxLength: 2,
  }),
  salt: fc.bigInt({ min: 0n, max: 9n }),
  signature: bytes(65),
})

test('a delegation manager asks the enforcers and the delegators that were read, with the executions that were read', () => {
  let read = 0
  const redeeming = fc
    .tuple(
      fc.array(fc.tuple(fc.array(delegation, { minLength: 1, maxLength: 2 }), batch), {
        maxLength: 2,
      }),
      fc.array(mutation, { maxLength: 3 }),
    )
    .map(([entries, mutations]) => {
      const contexts = entries.map(([chain]) => encodeAbiParameters(delegations, [chain]))
      const executions = entries.map(([, calls]) => batchWith(calls, undefined))
      const modes = entries.map(() => modeOf('01'))
      return mutations.reduce(mutate, encode('redeemDelegations', [contexts, modes, executions]))
    })
  fc.assert(
    fc.property(redeeming, (data) => {
      const redemptions = redemptionsOf({ to: CONTRACT, value: 0n, data, delegate: false })
      const made = redemptions && execute(contracts.Manager!.runtime, data)
      if (!redemptions || !made) return
      read += 1
      expect(made.map(({ to }) => to)).toEqual(
        redemptions.flatMap(({ delegator, enforcers }) => [
          ...enforcers.map(({ to }) => to),
          delegator ?? ENTRY_POINT,
        ]),
      )
      // The execution that the delegator is given, as its account reads it.
      const given = made.filter(({ data: input }) => input !== '0xa1a1a1a1')
      for (const [at, { data: input }] of given.entries()) {
        const calls = decodeCalls(concatHex(['0xe9ae5c53', `0x${input.slice(10)}`]))
        expect(calls).toEqual(redemptions[at]?.calls)
      }
    }),
    { numRuns: randomRuns(5_000) },
  )
  expect(read).toBeGreaterThan(randomRuns(5_000) / 20)
})
