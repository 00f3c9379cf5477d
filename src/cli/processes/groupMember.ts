import cluster from 'node:cluster'
import type { LogLevel } from '../../base/vocabulary.js'
import type { Siblings } from '../../telemetry/createMetrics.js'
import type { ReadyFacts } from '../readyFacts.js'
import type { MemberMessage, ParentMessage } from './groupMessages.js'
import type { SharedLevel } from './sharedLevel.js'

/** The variable that holds a process's number; its parent sets it. */
export const NUMBER_VARIABLE = 'PURSER_PROCESS_NUMBER'

/** Milliseconds that a scrape waits for the other processes; without them the page would show a fall. */
const GATHER_TIME = 5_000

/** One process of a group, as it sees its parent. */
type GroupMember = {
  readonly siblings: Siblings
  sendReady(facts: ReadyFacts): void
  readonly level: SharedLevel
  /** Lets the process end: the connection to its parent keeps it. */
  leave(): void
}

/** Undefined where this process is no part of a group. It ends at once when its parent is gone: Node sees to that. */
export function groupMember(): GroupMember | undefined {
  const { worker } = cluster
  const number = Number(process.env[NUMBER_VARIABLE])
  if (worker === undefined || !Number.isInteger(number)) return undefined
  const asked = new Map<number, (metrics: readonly object[]) => void>()
  let read: () => Promise<readonly object[]> = async () => []
  let hearLevel: (level: LogLevel) => void = ignore
  let lastId = 0

  const send = (message: MemberMessage): void => {
    if (worker.isConnected()) worker.send(message)
  }
  worker.on('message', (message: ParentMessage) => {
    if (message.kind === 'level') return hearLevel(message.level)
    const { id } = message
    if (message.kind === 'gathered') asked.get(id)?.(message.metrics)
    else read().then((metrics) => send({ kind: 'metrics', id, metrics }), ignore)
  })
  // A terminal sends its interrupt to all processes of the group; the parent then stops them.
  process.on('SIGINT', ignore)
  // A terminal that closes signals all of them too; the parent then replaces them.
  process.on('SIGHUP', ignore)

  async function readOthers(): Promise<readonly object[]> {
    const id = ++lastId
    try {
      return await new Promise<readonly object[]>((resolve, reject) => {
        const late = () => reject(new Error('another process does not report its metrics'))
        setTimeout(late, GATHER_TIME).unref()
        asked.set(id, resolve)
        send({ kind: 'gather', id })
      })
    } finally {
      asked.delete(id)
    }
  }

  return {
    siblings: {
      number,
      readOthers,
      answerWith: (answer) => {
        read = answer
      },
    },
    sendReady: (facts) => send({ kind: 'ready', facts }),
    level: {
      publish: (level) => send({ kind: 'level', level }),
      onChange: (hear) => {
        hearLevel = hear
      },
    },
    leave: () => worker.disconnect(),
  }
}

function ignore(): void {}
