import { type Hex, http } from 'viem'
import { createBundlerClient, createPaymasterClient } from 'viem/account-abstraction'
import { foundry } from 'viem/chains'
import type { Version } from '../../../src/erc4337/entryPoint.js'
import { result } from '../http/jsonRpc.js'
import { TARGET } from '../service/devAccount.js'
import { fund, nodeClient, simpleSmartAccount } from '../service/smartAccounts.js'
import { until } from '../until.js'
import type { Battlefield } from './battlefield.js'

/** One operation of an honest user. */
export type HonestOperation = {
  readonly hash: Hex
  readonly version: Version
  readonly success: boolean
  /** Blocks between the one at which it was accepted and its own. */
  readonly blocks: number
}

/** What the service says of fees that have moved since the client took them; it takes them again. */
const MOVED = /Take the fees from|is lower than expected max/

/**
 * Sends operations one after the other, sponsored and paid by itself in turns, until `isOver`: a user of
 * viem's clients with the service's own `fast` fees. The adversary pays what it likes and blocks come by the clock, so the
 * fees may have moved before a busy machine asks for the sponsorship; rejects with the first other refusal.
 */
export async function runHonestUser(
  { info }: Battlefield,
  version: Version,
  isOver: () => boolean,
): Promise<HonestOperation[]> {
  const node = nodeClient(info)
  const account = await simpleSmartAccount(info, version, `honest ${version}`)
  const common = {
    account,
    chain: foundry,
    client: node,
    transport: http(info.standardUrl),
    pollingInterval: 100,
    userOperation: {
      estimateFeesPerGas: async () => {
        const { fast } = await result(info.standardUrl, 'pimlico_getUserOperationGasPrice', [])
        return {
          maxFeePerGas: BigInt(fast.maxFeePerGas),
          maxPriorityFeePerGas: BigInt(fast.maxPriorityFeePerGas),
        }
      },
    },
  } as const
  const alone = createBundlerClient(common)
  const sponsored = createBundlerClient({
    ...common,
    paymaster: createPaymasterClient({ transport: http(info.standardUrl) }),
    paymasterContext: { mode: 'SPONSORED' },
  })
  const operations: HonestOperation[] = []
  while (!isOver()) {
    await fund(info, account.address)
    const client = operations.length % 2 === 0 ? sponsored : alone
    const calls = [{ to: TARGET, value: 1n, data: '0x' as Hex }]
    const hash = await until(() =>
      client.sendUserOperation({ calls }).catch((error: Error) => {
        if (!MOVED.test(error.message)) throw error
        return undefined
      }),
    )
    const accepted = await node.getBlockNumber({ cacheTime: 0 })
    const { success, receipt } = await client.waitForUserOperationReceipt({ hash, timeout: 60_000 })
    operations.push({ hash, version, success, blocks: Number(receipt.blockNumber - accepted) })
  }
  return operations
}
