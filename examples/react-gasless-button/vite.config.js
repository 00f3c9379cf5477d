import { readFileSync } from 'node:fs'

const dev = JSON.parse(readFileSync(process.env.PURSER_DEV ?? '../../.purser/dev.json', 'utf8'))
process.env.VITE_RPC_URL = dev.rpcUrl
process.env.VITE_PURSER_URL = dev.standardUrl

export default {}
