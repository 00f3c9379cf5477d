import type { Hex } from 'viem'
import { launchAnvil } from '../../src/cli/devnet/anvilProcess.js'
import {
  type DeployedContracts,
  deployDevContracts,
} from '../../src/cli/devnet/deployDevContracts.js'
import { endProcess } from '../../src/cli/devnet/processIdentity.js'
import type { ChainKind } from './loadOptions.js'
import { createRpcClient } from './rpcClient.js'

export type LoadChain = Pick<DeployedContracts, 'entryPoints' | 'factories'> & {
  readonly rpcUrl: string
  readonly chainId: number
  /** Undefined for a chain that we did not start. */
  readonly pid: number | undefined
  stop(): Promise<void>
}

const CHAIN_ID = 31_337
/** Timed blocks hold some thousand operations. Anvil keeps the last 600, so that its memory stays bounded. */
const timed = (seconds: string) =>
  [
    '--block-time',
    seconds,
    '--gas-limit',
    '300000000',
    '--transaction-block-keeper',
    '600',
  ] as const
/** A block for each transaction, every second one, or five a second. */
const settings: Readonly<Record<ChainKind | 'promised', readonly string[]>> = {
  quick: [],
  slow: timed('1'),
  promised: timed('0.2'),
}

/** An anvil of our own, or the one at `rpcUrl`, with EntryPoints and account factories. */
export async function openLoadChain(
  rpcUrl: string | undefined,
  kind: ChainKind | 'promised',
): Promise<LoadChain> {
  if (rpcUrl !== undefined) {
    const client = createRpcClient(rpcUrl, 1)
    const { result } = await client.call<Hex>('eth_chainId', [])
    await client.close()
    const contracts = await deployDevContracts(rpcUrl)
    return { ...contracts, rpcUrl, chainId: Number(result), pid: undefined, stop: async () => {} }
  }
  const args = ['--chain-id', String(CHAIN_ID), ...settings[kind]]
  const anvil = await launchAnvil(args, 0, () => {})
  const stop = async () => {
    await endProcess(anvil)
    await anvil.watchdog.dismiss()
  }
  try {
    const ownUrl = `http://127.0.0.1:${anvil.port}`
    const contracts = await deployDevContracts(ownUrl)
    return { ...contracts, rpcUrl: ownUrl, chainId: CHAIN_ID, pid: anvil.pid, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
