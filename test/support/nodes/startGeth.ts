import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { numberToHex, parseEther } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { guard } from '../../../src/base/watchdog.js'
import { devContracts, devVersions } from '../../../src/cli/devnet/devContracts.js'
import { devKey } from '../../../src/cli/devnet/devKeys.js'
import { endChild, firstMatch, type RawNode } from './rawNode.js'

/** The binary that `PURSER_GETH` names, or that Go has built; undefined where there is none. */
export function gethBinary(): string | undefined {
  if (process.env.PURSER_GETH) return process.env.PURSER_GETH
  const built = join(process.env.GOPATH ?? join(homedir(), 'go'), 'bin', 'geth')
  return existsSync(built) ? built : undefined
}

const DEV_ACCOUNTS = 10

type Genesis = {
  readonly config: Readonly<Record<string, unknown>>
  readonly alloc: Readonly<Record<string, { readonly code?: string }>>
}

/** Unix seconds from which the rules of a fork hold; absent = never. */
type ForkTimes = { readonly amsterdamTime?: number; readonly bogotaTime?: number }

/**
 * geth's own first block of a developer's chain, which has the contracts of the forks and the deterministic deployer,
 * by the rules of Osaka until the `times` of later ones. geth places no code afterwards: what only a node can place is there from the beginning.
 */
function genesisOf(binary: string, chainId: number, times: ForkTimes) {
  const dumped = execFileSync(binary, ['--dev', 'dumpgenesis'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const { config, alloc, ...header } = JSON.parse(dumped.toString()) as Genesis
  const { bogotaTime: _, amsterdamTime: __, ...known } = config
  const blobs = { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716 }
  const balance = numberToHex(parseEther('10000'))
  const funded = Array.from({ length: DEV_ACCOUNTS }, (_, at) => privateKeyToAddress(devKey(at)))
  const placements = devVersions.flatMap((version) => devContracts(version).placements)
  return {
    ...header,
    config: {
      ...known,
      chainId,
      ...times,
      blobSchedule: { cancun: blobs, prague: blobs, osaka: blobs, amsterdam: blobs, bogota: blobs },
    },
    gasLimit: numberToHex(300_000_000),
    alloc: {
      // Precompiles own nothing, as on a chain that began without them.
      ...Object.fromEntries(Object.entries(alloc).filter(([, { code }]) => code !== undefined)),
      ...Object.fromEntries(funded.map((address) => [address, { balance }])),
      ...Object.fromEntries(
        placements.map(({ address, code }) => [address, { balance: '0x0', code: code(chainId) }]),
      ),
    },
  }
}

/**
 * geth in developer mode on free ports: a block for each transaction. It has anvil's accounts, the deterministic
 * deployer, and the contracts that cannot be deployed. See `genesisOf` for `times`.
 */
export async function startGeth(chainId: number, times: ForkTimes = {}): Promise<RawNode> {
  const binary = gethBinary()
  if (binary === undefined)
    throw new Error('There is no geth: PURSER_GETH names none, and Go has built none.')
  const folder = mkdtempSync(join(tmpdir(), 'purser-geth-'))
  const file = join(folder, 'genesis.json')
  writeFileSync(file, JSON.stringify(genesisOf(binary, chainId, times)))
  execFileSync(binary, ['init', '--datadir', folder, file], { stdio: 'pipe' })
  const api = 'eth,net,web3,debug,txpool,dev'
  const ports = ['http', 'ws'].flatMap((way) => [
    `--${way}`,
    ...[`--${way}.addr`, '127.0.0.1', `--${way}.port`, '0', `--${way}.api`, api],
  ])
  const alone = ['--nodiscover', '--maxpeers', '0', '--ipcdisable', '--authrpc.port', '0']
  const child = spawn(binary, ['--dev', '--datadir', folder, ...ports, ...alone], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const watchdog = guard({ pid: child.pid ?? 0, program: 'geth', usedBy: '', signal: 'TERM' })
  const address = /127\.0\.0\.1:(\d+)/.source
  const [http, ws] = await Promise.all([
    firstMatch(child, new RegExp(`HTTP server started +endpoint=${address}`)),
    firstMatch(child, new RegExp(`WebSocket enabled +url=ws://${address}`)),
  ])
  return {
    rpcUrl: `http://127.0.0.1:${http[1]}`,
    wsUrl: `ws://127.0.0.1:${ws[1]}`,
    pid: child.pid ?? 0,
    async stop() {
      await endChild(child)
      await watchdog.dismiss()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
