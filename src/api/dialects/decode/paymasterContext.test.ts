import { describe, expect, test } from 'vitest'
import { decodeContext } from './paymasterRequest.js'

describe('a context', () => {
  test('carries webhookData at the top or in sponsorshipInfo, where it wins', () => {
    const top = { webhookData: { user: 1 } }
    const inInfo = { sponsorshipInfo: { webhookData: { user: 2 } } }
    expect(decodeContext(top, 'params[3]')).toMatchObject({ webhookData: { user: 1 } })
    expect(decodeContext(inInfo, 'params[3]')).toMatchObject({ webhookData: { user: 2 } })
    expect(decodeContext({ ...top, ...inInfo }, 'params[3]')).toMatchObject({
      webhookData: { user: 2 },
    })
  })

  test('names the place of webhookData that is malformed', () => {
    const place = (context: object) => () => decodeContext(context, 'params[3]')
    expect(place({ webhookData: 'x' })).toThrow('params[3].webhookData: must be an object.')
    expect(place({ sponsorshipInfo: { webhookData: 1 } })).toThrow(
      'params[3].sponsorshipInfo.webhookData: must be an object.',
    )
  })

  test.each([
    [{ webhookdata: {} }, 'params[3].webhookdata: is unknown: did you mean webhookData?'],
    [
      { policyId: 'p', erc20Context: {} },
      'params[3].erc20Context: is unknown: did you mean token?',
    ],
    [{ expiryDurations: 60 }, 'did you mean expiryDuration?'],
    [{ calculateGasLimit: true }, 'did you mean calculateGasLimits?'],
    [
      { sponsorshipInfo: { webHookData: {} } },
      'params[3].sponsorshipInfo.webHookData: is unknown: did you mean webhookData?',
    ],
    [{ nonsense: 1 }, 'params[3].nonsense: is unknown. Known are mode'],
    [{ ['x'.repeat(900_000)]: 1 }, 'is unknown. Known are mode'],
  ])('is refused with a member that nobody reads: %#', (context, message) => {
    expect(() => decodeContext(context, 'params[3]')).toThrow(message)
  })

  test('of another provider is taken', () => {
    for (const context of [
      undefined,
      {},
      { sponsorshipPolicyId: 'sp_1', validForSeconds: 60, meta: { a: 1 } },
      { policyId: 'p', paymasterId: 'q', type: 'payg' },
      { nonsense: undefined },
    ])
      expect(decodeContext(context, 'params[3]').mode).toBe('SPONSORED')
  })
})
