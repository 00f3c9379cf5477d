// A project's test server: prool, its Server and our instance, on the node of the first argument. Prints its URL, ends
// when standard input does. prool asks for Node 22 for one function, which Node 20 gets here.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

Promise.withResolvers ??= () => {
  const parts = {}
  parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }))
  return parts
}
const { Instance, Server } = await import('prool')
const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))
const { purser } = await import(resolve(exports['./prool'].default))

const [, , rpcUrl] = process.argv
const server = Server.create({ instance: Instance.define(purser)({ rpcUrl }), host: '127.0.0.1' })
const stop = await server.start()
process.stdout.write(`http://127.0.0.1:${server.address().port}\n`)
process.stdin.resume().on('end', async () => {
  await stop()
  process.exit(0)
})
