import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** A node as its authors ship it, without anything of ours in front. */
export type RawNode = {
  readonly rpcUrl: string
  /** Where it announces heads (WebSocket). */
  readonly wsUrl: string
  readonly pid: number
  /** Ends the process and waits until it is gone. */
  stop(): Promise<void>
}

/** What a process of `program` says first that `pattern` matches. Throws with its words when it ends before. */
export async function firstMatch(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  let text = ''
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      text += chunk.toString()
      const match = pattern.exec(text)
      if (match) resolve(match)
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`the node ended with ${code}:\n${text}`)))
  })
}

export async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}
