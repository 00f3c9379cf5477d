import { createWalletClient, http, parseEther, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { keyFromSeed } from '../../../src/cli/devnet/simpleAccount.js'
import type { Operation } from '../../../src/erc4337/operation.js'
import { lower, type VersionChain } from '../world/versionChain.js'

/**
 * Carries the operation to the chain as any stranger can, for the lowest tip, with himself as
 * beneficiary. All amounts are wei, by balances.
 */
export async function carryAsStranger(chain: VersionChain, op: Operation) {
  const stranger = privateKeyToAccount(keyFromSeed('stranger'))
  await chain.fund(stranger.address, parseEther('10'))
  const wallet = createWalletClient({
    account: stranger,
    chain: { ...foundry, id: chain.chainId },
    transport: http(chain.anvil.url),
    pollingInterval: 20,
  }).extend(publicActions)
  const { address } = stranger
  const [before, deposit] = [
    await wallet.getBalance({ address }),
    await chain.depositOf(op.paymaster!),
  ]
  const hash = await wallet.sendTransaction({
    to: chain.entryPoint.address,
    data: chain.entryPoint.encodeHandleOps([op], lower(address)),
    gas: 16_000_000n,
    maxPriorityFeePerGas: 1n,
  })
  const { gasUsed, blockNumber, logs } = await wallet.waitForTransactionReceipt({ hash })
  const { baseFeePerGas } = await wallet.getBlock({ blockNumber })
  const [outcome] = chain.entryPoint.decodeOutcomes(logs)
  if (outcome === undefined) throw new Error('the stranger could not carry the operation')
  return {
    gain: (await wallet.getBalance({ address })) - before,
    paid: deposit - (await chain.depositOf(op.paymaster!)),
    gasUsed,
    gasCharged: outcome.actualGasUsed,
    baseFee: baseFeePerGas ?? 0n,
  }
}
