import { register } from 'node:module'

/* Hardhat's own JSON-RPC server, as `hardhat node` runs it: the command refuses Node 20, the server does not. */

register('./hardhatLoader.mjs', import.meta.url)
const { createHardhatRuntimeEnvironment } = await import('hardhat/hre')
const { chainType, chainId } = JSON.parse(process.argv[2])
const node = { type: 'edr-simulated', chainType, chainId, loggingEnabled: false }
if (chainType === 'l1') node.hardfork = 'osaka'
const hardhat = await createHardhatRuntimeEnvironment({ networks: { node } })
const server = await hardhat.network.createServer({ network: 'node' }, '127.0.0.1', 0)
const { port } = await server.listen()
process.stdout.write(`listening on ${port}\n`)
// It ends with the process that started it, however that ends.
process.stdin.on('end', () => process.exit()).resume()
