import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { endChild, firstMatch, type RawNode } from './rawNode.js'

const SERVER = fileURLToPath(new URL('../../clients/hardhat/hardhatServer.mjs', import.meta.url))

/** Hardhat's node on a free port, with anvil's accounts; as Ethereum (`l1`) or a chain of the OP stack. */
export async function startHardhat(chainType: 'l1' | 'op', chainId: number): Promise<RawNode> {
  const settings = JSON.stringify({ chainType, chainId })
  const child = spawn(process.execPath, [SERVER, settings], { stdio: ['pipe', 'pipe', 'pipe'] })
  const [, port] = await firstMatch(child, /listening on (\d+)/)
  return {
    rpcUrl: `http://127.0.0.1:${port}`,
    wsUrl: `ws://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    stop: () => endChild(child),
  }
}
