import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inclusions } from '../support/database/books.js'
import { rpc } from '../support/http/jsonRpc.js'
import {
  type Intent,
  included,
  intentsOf,
  prepare,
  send,
  whileDying,
} from '../support/service/intents.js'
import { TARGET } from '../support/service/devAccount.js'
import { prepareServing, type Serving } from '../support/service/serving.js'
import type { RunningService } from '../support/service/startPurser.js'

/* A container's limit of memory: the kernel kills the process in the middle of whatever it does. */

/** The folder of control groups that limit memory, of either version; one can be made by root only. */
const GROUP = ['/sys/fs/cgroup/memory', '/sys/fs/cgroup'].map((root) =>
  join(root, `purser-test-${process.pid}`),
)

/** What a process may have more than when it came into the group. */
const MORE = String(24 * 2 ** 20)

type MemoryGroup = { add(pid: number): void; remove(): void }

function makeGroup(): MemoryGroup | undefined {
  for (const folder of GROUP)
    for (const limit of ['memory.limit_in_bytes', 'memory.max'])
      try {
        mkdirSync(folder, { recursive: true })
        writeFileSync(join(folder, limit), MORE, { flag: 'r+' })
        return {
          add: (pid) => writeFileSync(join(folder, 'cgroup.procs'), String(pid)),
          remove: () => rmdirSync(folder),
        }
      } catch {
        remove(folder)
      }
  return undefined
}

function remove(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {}
}

const group = makeGroup()

describe.skipIf(group === undefined)('under a limit of memory', () => {
  let serving: Serving
  beforeAll(async () => {
    serving = await prepareServing(1_025, async () => ({}))
    await serving.start()
  })
  afterAll(async () => {
    await serving?.stop()
    group?.remove()
  })

  /** Estimates of large calls, until the process is gone: what fills its memory. */
  const fill = async (service: RunningService): Promise<void> => {
    let isOver = false
    service.ended.then(() => {
      isOver = true
    })
    const { standardUrl, entryPoints } = serving.info()
    const callData = `0x${'ab'.repeat(60_000)}`
    const rest = { nonce: '0x0', initCode: '0x', paymasterAndData: '0x', signature: '0x' }
    const params = [{ sender: TARGET, callData, ...rest }, entryPoints['0.6']]
    while (!isOver) {
      const asked = Array.from({ length: 8 }, () =>
        rpc(standardUrl, 'eth_estimateUserOperationGas', params).catch(() => undefined),
      )
      await Promise.all(asked)
    }
  }

  test('a process that the kernel kills loses nothing that it acknowledged', {
    timeout: 240_000,
  }, async () => {
    const intents: Intent[] = []
    for (const round of [1, 2, 3]) {
      const service = await serving.start()
      const some = intentsOf(`limited ${round}`, 8).map((each) => ({
        ...each,
        payer: 'self' as const,
      }))
      for (const intent of some) await prepare(serving.info(), intent)
      intents.push(...some)
      group!.add(service.process.pid!)
      await Promise.all([whileDying(some, (intent) => send(serving.info(), intent)), fill(service)])
      expect(await service.ended).toMatchObject({ signal: 'SIGKILL' })
    }
    await serving.start()
    const acknowledged = intents.filter((intent) => intent.acknowledged !== undefined)
    expect(acknowledged.length).toBeGreaterThan(0)
    await included(serving.info(), acknowledged)
    // One whose answer was lost may be included as well, and none twice.
    expect(await inclusions(serving.info())).toBeLessThanOrEqual(intents.length)
  })
})
