import type { Address } from 'viem'
import {
  type BlockAnswers,
  BlockGone,
  decodeReads,
  encodeRead,
  noAnswers,
  type Read,
  storageKey,
} from '../../chain/blockReads.js'
import { delegateOf } from '../../chain/delegations.js'
import type { BlockId, Head } from '../../chain/head.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import { NodeUnavailableError } from '../../chain/nodeErrors.js'
import { depositSlot } from '../../erc4337/encoding/storageLayout.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import { type State, toHex } from '../../evm/index.js'

type Subject = {
  readonly node: NodeClient
  readonly entryPoint: EntryPoint
  readonly op: Operation
}

/**
 * The accounts of the visited addresses, of those that the operation names and of their delegates, the stakes and the
 * payer's deposit, of one block.
 */
export async function readEntities(
  { node, entryPoint, op }: Subject,
  addresses: ReadonlySet<Address>,
  head: Head,
  block: BlockId,
): Promise<State> {
  const { address } = entryPoint
  const { sender, factory, paymaster, authorization } = op
  const entities = [sender, factory, paymaster].filter((entity) => entity !== undefined)
  const visited = new Set([...addresses, ...entities])
  if (authorization !== undefined) visited.add(authorization.address)
  const slots = entities.flatMap((entity) => entryPoint.stakeSlots(entity))
  slots.push(...[sender, paymaster ?? sender].map(depositSlot))

  const known = noAnswers()
  async function learn(reads: readonly Read[]): Promise<void> {
    const settled = await node.batch(reads.flatMap((read) => encodeRead(read, head, block)))
    try {
      decodeReads(reads, settled, known)
    } catch (error) {
      if (!(error instanceof BlockGone)) throw error
      throw new NodeUnavailableError(`state of block ${head.hash}`, error)
    }
  }

  await learn([
    ...accountReads(visited),
    ...slots.map((slot): Read => ({ kind: 'slot', address, slot })),
  ])
  const delegates = [...known.codes.values()].map((code) => delegateOf(toHex(code)))
  const unread = delegates.filter(
    (delegate) => delegate !== undefined && !visited.has(delegate),
  ) as Address[]
  if (unread.length > 0) await learn(accountReads(new Set(unread)))
  return stateOf(known)
}

function accountReads(addresses: ReadonlySet<Address>): Read[] {
  return [...addresses].map((address) => ({ kind: 'account', address }))
}

function stateOf({ balances, nonces, codes, slots }: BlockAnswers): State {
  return {
    account: (address) => {
      const [balance, code] = [balances.get(address), codes.get(address)]
      if (balance === undefined || code === undefined) return undefined
      return { nonce: nonces.get(address), balance, code }
    },
    slot: (address, slot) => slots.get(storageKey(address, slot)),
  }
}
