import type { Address, Hex } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ConfigError } from '../../src/base/errors/configError.js'
import type { DataFeeKind } from '../../src/chain/definition/chainDefinition.js'
import { createNodeClient, type NodeClient } from '../../src/chain/nodeClient.js'
import { requireDataFee } from '../../src/gas/dataPrice.js'
import { type Anvil, startAnvil } from '../support/chain/startAnvil.js'
import { silent } from '../support/logger.js'

const l1Block = '0x4200000000000000000000000000000000000015'
const oracle = '0x420000000000000000000000000000000000000f'
const arbGasInfo = '0x000000000000000000000000000000000000006c'
const scrollOracle = '0x5300000000000000000000000000000000000002'
/** Code that fails, as a contract does when it is asked for what it does not have. */
const FAILING = '0xfe'
/** Code that answers any call with the word 3,000. */
const ANSWERING = '0x610bb85f5260205ff3'

let anvil: Anvil
let node: NodeClient

beforeEach(async () => {
  anvil = await startAnvil()
  node = createNodeClient({ urls: [anvil.url], logger: silent })
})
afterEach(async () => {
  await node?.close()
  await anvil?.stop()
})

async function place(...codes: readonly (readonly [Address, Hex])[]): Promise<void> {
  for (const [address, code] of codes) await anvil.request('anvil_setCode', [address, code])
}
const start = (dataFee: DataFeeKind) => requireDataFee(node, { chainId: 10, dataFee })

test('a chain without the contracts of a rollup has dataFee none, and no other', async () => {
  await start('none')
  for (const dataFee of ['opStack', 'opStackTokenRatio', 'arbitrum', 'scroll'] as const) {
    await expect(start(dataFee)).rejects.toThrow(ConfigError)
    await expect(start(dataFee)).rejects.toThrow(/no contract at 0x\w{40}.*correct facts.dataFee/)
  }
})

test('a rollup has the dataFee of its contracts, and a configuration with another names it', async () => {
  await place([l1Block, FAILING])
  await start('none')
  await place([oracle, FAILING])
  await start('opStack')
  await expect(start('none')).rejects.toThrow('set facts.dataFee to "opStack"')
  await expect(start('opStackTokenRatio')).rejects.toThrow('set facts.dataFee to "opStack"')

  await place([oracle, ANSWERING])
  await start('opStackTokenRatio')
  await expect(start('opStack')).rejects.toThrow('set facts.dataFee to "opStackTokenRatio"')
})

test('Arbitrum and Scroll are recognised by their contracts too', async () => {
  await place([scrollOracle, ANSWERING])
  await start('scroll')
  await expect(start('none')).rejects.toThrow('set facts.dataFee to "scroll"')
  await place([arbGasInfo, FAILING])
  await start('arbitrum')
  await expect(start('none')).rejects.toThrow('set facts.dataFee to "arbitrum"')
})
