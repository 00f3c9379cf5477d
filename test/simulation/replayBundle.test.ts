import { describe, expect, test } from 'vitest'
import { checkRules, ruleSettings } from '../../src/simulation/checkRules.js'
import { replayBundle } from '../../src/simulation/inProcess/replayBundle.js'
import { simulations } from '../support/simulations.js'
import { senderKinds, VERSIONS } from '../support/world/versionChain.js'
import { useVersionChain } from '../support/world.js'

const rules = ruleSettings({
  rules: 'full',
  minimumStake: 1n,
  minimumUnstakeDelay: 1,
  ruleExceptions: [],
})

describe.each(VERSIONS)('a mined bundle that is run again, EntryPoint v%s', (version) => {
  const chain = useVersionChain(version)

  test('does what it did on the chain, to the unit of gas, whatever the chain did since', async () => {
    const { engine, entryPoint, wallet, executor } = chain()
    const tank = await chain().createTank(0)
    const ops = await Promise.all(
      senderKinds(version).map(async (kind) => {
        const drafted = await chain().draft(
          kind,
          `again ${kind}`,
          chain().onTarget('write', 0n, 2n),
        )
        // Nodes do not agree about the refund for the authorization of an empty account.
        await chain().fund(drafted.sender)
        return chain().sign(await chain().sponsor(drafted, tank), `again ${kind}`)
      }),
    )
    await engine.heads.refresh()
    const [first] = ops
    const validated = await engine.validate(entryPoint, first!)
    if (!validated.ok) throw new Error(validated.failure.message)
    const { verdict } = checkRules(entryPoint, first!, validated.validation.observed, rules)
    const alone = verdict!.entities.map(({ address, gasUsed }) => [address, gasUsed])

    const authorizations = ops.flatMap(({ authorization }) => authorization ?? [])
    const data = entryPoint.encodeHandleOps(ops, executor)
    const hash = await wallet.sendTransaction({
      to: entryPoint.address,
      data,
      gas: 10_000_000n,
      ...(authorizations.length > 0 && {
        authorizationList: authorizations.map((each) => ({ ...each, nonce: Number(each.nonce) })),
      }),
    })
    const receipt = await wallet.waitForTransactionReceipt({ hash })
    const mined = entryPoint.decodeOutcomes(receipt.logs)
    expect(mined.map(({ success }) => success)).toEqual(ops.map(() => true))
    // The accounts and slots are other ones by now, and their code is remembered.
    await chain().send(await chain().sign(await chain().draft('deployed', 'later'), 'later'))
    await engine.validate(entryPoint, { ...ops[1]!, nonce: ops[1]!.nonce + 1n, factory: undefined })

    const run = await replayBundle(
      { state: engine.state, simulations },
      entryPoint,
      receipt.blockHash,
      {
        from: executor,
        data,
        gas: 10_000_000,
        gasPrice: receipt.effectiveGasPrice,
        authorizations: authorizations.map((each) => ({
          ...each,
          chainId: BigInt(each.chainId),
          r: BigInt(each.r),
          s: BigInt(each.s),
        })),
      },
    )
    expect(run.outcomes).toEqual(
      mined.map(({ userOpHash, success, actualGasUsed }) => ({
        userOpHash,
        success,
        actualGasUsed,
      })),
    )
    expect(run.gasUsed).toBe(Number(receipt.gasUsed))
    expect(run.used).toHaveLength(ops.length)
    expect([...run.used![0]!]).toEqual(alone)
  })
})
