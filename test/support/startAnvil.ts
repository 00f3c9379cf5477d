import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Address, createPublicClient, type Hex, http, type PublicClient } from 'viem'

export type Receipt = {
  readonly status: Hex
  readonly gasUsed: Hex
  readonly transactionHash: Hex
  readonly contractAddress: Address | null
  readonly logs: readonly {
    readonly address: Address
    readonly topics: readonly Hex[]
    readonly data: Hex
    readonly blockNumber: Hex
    readonly blockHash: Hex
    readonly transactionHash: Hex
    readonly transactionIndex: Hex
    readonly logIndex: Hex
  }[]
}

export type Transaction = {
  readonly from?: Address
  readonly to?: Address
  readonly data?: Hex
  readonly value?: Hex
  readonly gas?: Hex
}

export type Anvil = {
  readonly url: string
  readonly client: PublicClient
  readonly account: Address
  request(method: string, params: readonly unknown[]): Promise<unknown>
  /** Sends from the first unlocked account and returns the receipt, also of a failed transaction. */
  send(transaction: Transaction): Promise<Receipt>
  stop(): Promise<void>
}

const ANVIL_ACCOUNT: Address = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'

/** A fresh anvil on a free port; `stop` ends it. */
export const startAnvil = async (args: readonly string[] = []): Promise<Anvil> => {
  const port = await freePort()
  const process = spawn(
    anvilBinary(),
    ['--port', String(port), '--prune-history', '64', '--silent', ...args],
    { stdio: 'ignore' },
  )
  const url = `http://127.0.0.1:${port}`
  const client = createPublicClient({
    transport: http(url, { retryCount: 0 }),
    pollingInterval: 10,
  })
  const request: Anvil['request'] = (method, params) =>
    client.request({ method, params } as unknown as Parameters<typeof client.request>[0])
  await untilListening(process, () => request('eth_chainId', []))
  return {
    url,
    client,
    account: ANVIL_ACCOUNT,
    request,
    send: async (transaction) => {
      const hash = await request('eth_sendTransaction', [{ from: ANVIL_ACCOUNT, ...transaction }])
      return untilMined(request, hash as Hex)
    },
    stop: async () => {
      const exited = once(process, 'exit')
      if (process.kill()) await exited
    },
  }
}

const anvilBinary = (): string => {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const manifest = `@foundry-rs/anvil-${process.platform}-${arch}/package.json`
  const resolve = createRequire(createRequire(import.meta.url).resolve('@foundry-rs/anvil/bin.mjs'))
  return join(dirname(resolve.resolve(manifest)), 'bin', 'anvil')
}

const freePort = async (): Promise<number> => {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

const untilListening = async (
  process: ChildProcess,
  probe: () => Promise<unknown>,
): Promise<void> => {
  for (;;) {
    if (process.exitCode !== null) throw new Error(`anvil ended with ${process.exitCode}`)
    const answered = await probe().then(
      () => true,
      () => false,
    )
    if (answered) return
    await delay(20)
  }
}

const untilMined = async (request: Anvil['request'], hash: Hex): Promise<Receipt> => {
  for (;;) {
    const receipt = await request('eth_getTransactionReceipt', [hash])
    if (receipt) return receipt as Receipt
    await delay(5)
  }
}
