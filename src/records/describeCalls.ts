import type { Address, Hex } from 'viem'
import { parseAbi } from 'viem/utils'
import { z } from 'zod'
import {
  type DecodedCall,
  decodeCalls,
  MOST_REDEEMED,
  redemptionsOf,
} from '../paymaster/policy/decodeCalls.js'
import { type AnswerOf, address, wei } from '../tenants/schemas.js'
import { type Dictionary, dictionaryOf, nameData } from './contractAbi.js'

/** A call that an operation makes; where its function is one of the common standards, by name. */
export const describedCall = z.object({
  to: address,
  value: wei,
  data: z.string(),
  /** Whether it runs the target's code as the account itself. */
  delegate: z.boolean(),
  /** The account that makes it by its delegation (ERC-7710), after the call that redeems this; null = the operation's own. */
  delegator: address.nullable(),
  /** Of the common standards (ERC-20, ERC-721, ERC-1155, …); null where it is none of them. */
  function: z
    .object({
      signature: z.string(),
      args: z.array(z.object({ name: z.string(), value: z.string() })),
    })
    .nullable(),
})

type DescribedCall = AnswerOf<typeof describedCall>

/** ERC-20, ERC-721, ERC-1155, ERC-2612, WETH, Permit2, and what accounts call on themselves and on each other. */
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
  'function increaseAllowance(address spender, uint256 amount)',
  'function decreaseAllowance(address spender, uint256 amount)',
  'function mint(uint256 amountOrId)',
  'function mint(address to)',
  'function burn(address from, uint256 amountOrId)',
  'function burnFrom(address from, uint256 amount)',
  'function safeMint(address to)',
  'function safeMint(address to, uint256 id)',
  'function approve(address token, address spender, uint160 amount, uint48 expiration)',
  'function multicall(bytes[] calls)',
  'function execute(address to, uint256 value, bytes data)',
  'function execute(bytes32 mode, bytes calls)',
  'function executeFromExecutor(bytes32 mode, bytes calls)',
  'function executeBatch((address to, uint256 value, bytes data)[] calls)',
  'function redeemDelegations(bytes[] contexts, bytes32[] modes, bytes[] calls)',
])

/** What contracts ask each other. */
const reads = parseAbi([
  'function balanceOf(address owner)',
  'function balanceOf(address owner, uint256 id)',
  'function allowance(address owner, address spender)',
  'function ownerOf(uint256 id)',
  'function getApproved(uint256 id)',
  'function isApprovedForAll(address owner, address operator)',
  'function isValidSignature(bytes32 hash, bytes signature)',
  'function latestRoundData()',
])

/** The functions of the common standards. */
export const standardFunctions = dictionaryOf([...standards, ...reads], 'function')

/**
 * The calls in an operation's call data, by the functions of the app's contracts, else those of the standards; undefined where
 * no account that is known has such call data.
 */
export function describeCalls(
  callData: Hex,
  own: Dictionary = new Map(),
): readonly DescribedCall[] | undefined {
  return decodeCalls(callData)?.flatMap((call) => describe(call, null, 0, own))
}

function describe(
  call: DecodedCall,
  delegator: Address | null,
  depth: number,
  own: Dictionary,
): readonly DescribedCall[] {
  const redemptions = depth < MOST_REDEEMED ? (redemptionsOf(call) ?? []) : []
  const inner = redemptions.flatMap(({ delegator: by = delegator, calls }) =>
    calls.flatMap((each) => describe(each, by, depth + 1, own)),
  )
  const { signature, args } =
    nameData(call.data, own) ?? nameData(call.data, standardFunctions) ?? {}
  const named = signature === undefined || args === undefined ? null : { signature, args }
  return [{ ...call, delegator, function: named }, ...inner]
}
