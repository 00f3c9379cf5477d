import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/db/embedded/embeddedPostgres.js'
import { silent } from '../support/logger.js'
import { makeDataFolder, removeDataFolder } from '../support/service/startPurser.js'

/*
 * Purser runs as root, its PostgreSQL as `nobody`, whom other programs of the machine run as too. One of
 * them connects to the database's socket, as superuser and without a password.
 */

const NOBODY = 65_534
/** The first bytes that the server answers: "R" and 0 let the client in, "E" refuses it. */
const client = `
  const { connect } = require('node:net')
  const text = Buffer.from('user\\0purser\\0database\\0postgres\\0\\0')
  const head = Buffer.alloc(8)
  head.writeInt32BE(text.length + 8, 0)
  head.writeInt32BE(196608, 4)
  const socket = connect('/proc/self/cwd/.s.PGSQL.5432')
  socket.on('connect', () => socket.write(Buffer.concat([head, text])))
  socket.on('data', (bytes) => {
    console.log(bytes.toString('latin1', 0, 1), bytes.readInt32BE(5))
    socket.destroy()
  })
  socket.on('error', ({ code }) => console.log(code))
`

let folder: string
let postgres: EmbeddedPostgres
beforeAll(async () => {
  folder = makeDataFolder()
  postgres = await startEmbeddedPostgres(folder, silent)
})
afterAll(async () => {
  await postgres.stop()
  removeDataFolder(folder)
})

/** The answer to a client that runs as user `uid` in the folder of the socket. */
async function answerTo(uid: number): Promise<string> {
  const cluster = join(folder, 'postgres', 'cluster')
  const child = spawn(process.execPath, ['-e', client], { cwd: cluster, uid, gid: uid })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  await once(child, 'close')
  return output.trim()
}

test.runIf(process.getuid?.() === 0)(
  'a program that runs as the user of the server cannot enter the database',
  async () => {
    expect(statSync(join(folder, 'postgres', 'cluster')).uid).toBe(NOBODY)
    expect(await answerTo(0)).toBe('R 0')
    expect(await answerTo(NOBODY)).toMatch(/^E /)
  },
)
