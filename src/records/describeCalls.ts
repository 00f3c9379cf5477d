import type { AbiFunction, Address, Hex } from 'viem'
import { parseAbi, size, sliceHex, toFunctionSelector, toFunctionSignature } from 'viem/utils'
import { decodeParameters } from '../erc4337/encoding/decodeParameters.js'
import {
  type DecodedCall,
  decodeCalls,
  MOST_REDEEMED,
  redemptionsOf,
} from '../paymaster/policy/decodeCalls.js'

/** A call that an operation makes; where its function is one of the common standards, by name. Value in wei. */
type DescribedCall = {
  readonly to: Address
  readonly value: bigint
  readonly data: Hex
  /** Whether it runs the target's code as the account itself. */
  readonly delegate: boolean
  /** The account that makes it by its delegation (ERC-7710), after the call that redeems this; null = the operation's own. */
  readonly delegator: Address | null
  readonly function: {
    readonly signature: string
    readonly args: readonly { readonly name: string; readonly value: string }[]
  } | null
}

/** ERC-20, ERC-721, ERC-1155, ERC-2612, WETH and the functions that accounts call on themselves. */
const standards = parseAbi([
  'function transfer(address to, uint256 amount)',
  'function transferFrom(address from, address to, uint256 amountOrId)',
  'function approve(address spender, uint256 amountOrId)',
  'function permit(address owner, address spender, uint256 amount, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
  'function mint(address to, uint256 amountOrId)',
  'function burn(uint256 amountOrId)',
  'function deposit()',
  'function withdraw(uint256 amount)',
  'function setApprovalForAll(address operator, bool approved)',
  'function safeTransferFrom(address from, address to, uint256 id)',
  'function safeTransferFrom(address from, address to, uint256 id, bytes data)',
  'function safeTransferFrom(address from, address to, uint256 id, uint256 amount, bytes data)',
  'function safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] amounts, bytes data)',
  'function installModule(uint256 kind, address module, bytes data)',
  'function uninstallModule(uint256 kind, address module, bytes data)',
  'function upgradeToAndCall(address implementation, bytes data)',
  'function transferOwnership(address owner)',
])

const bySelector: ReadonlyMap<Hex, AbiFunction> = new Map(
  standards.map((item) => [toFunctionSelector(item), item]),
)

/** The calls in an operation's call data; undefined where no account that is known has such call data. */
export function describeCalls(callData: Hex): readonly DescribedCall[] | undefined {
  return decodeCalls(callData)?.flatMap((call) => describe(call, null, 0))
}

function describe(
  call: DecodedCall,
  delegator: Address | null,
  depth: number,
): readonly DescribedCall[] {
  const redemptions = depth < MOST_REDEEMED ? (redemptionsOf(call) ?? []) : []
  const inner = redemptions.flatMap(({ delegator: by = delegator, calls }) =>
    calls.flatMap((each) => describe(each, by, depth + 1)),
  )
  return [{ ...call, delegator, function: functionOf(call.data) }, ...inner]
}

function functionOf(data: Hex): DescribedCall['function'] {
  if (size(data) < 4) return null
  const item = bySelector.get(sliceHex(data, 0, 4))
  if (item === undefined) return null
  const rest = size(data) === 4 ? '0x' : sliceHex(data, 4)
  const values = decodeParameters(item.inputs, rest)
  if (values === undefined) return null
  const args = item.inputs.map(({ name = '' }, at) => ({ name, value: String(values[at]) }))
  return { signature: toFunctionSignature(item), args }
}
