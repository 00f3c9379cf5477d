import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkRules } from '../../../src/validation/checkRules.js'
import { gasInBundle } from '../../../src/validation/erc7562/index.js'
import { ruleSettings } from '../../../src/validation/ruleSettings.js'
import { traceMined } from '../../../src/validation/traceMined.js'
import { type EngineChain, openEngineChain } from '../../support/chain/engineChain.js'
import { VERSIONS } from '../../support/tanks/tankChain.js'

const rules = ruleSettings({
  rules: 'full',
  limitProfile: 'lenient',
  minimumStake: 1n,
  minimumUnstakeDelay: 1,
})

describe.each(VERSIONS)('a mined transaction, EntryPoint v%s', (version) => {
  let chain: EngineChain
  beforeAll(async () => {
    chain = await openEngineChain(version)
  })
  afterAll(() => chain?.close())

  test('shows the gas of validation that our EVM saw before, to the unit', async () => {
    const { engine, entryPoint } = chain
    const tank = await chain.createTank(0)
    const drafted = await chain.draft('deployed', 'mined', chain.onTarget('write', 0n, 2n))
    const op = await chain.sign(await chain.sponsor(drafted, tank), 'mined')
    await engine.heads.refresh()
    const result = await engine.validate(entryPoint, op)
    if (!result.ok) throw new Error(result.failure.message)
    const { verdict } = checkRules(entryPoint, op, result.validation.observed, rules)
    const before = verdict!.entities.map(({ address, gasUsed }) => [address, gasUsed])
    expect(before.map(([address]) => address)).toEqual([op.sender, tank])

    const { hash } = await chain.send(op)
    const root = await traceMined(engine.node, 'script', entryPoint, hash)
    expect(gasInBundle(entryPoint, [op], root).map((gas) => [...gas])).toEqual([before])
  })
})
