import { decodePaymasterParams } from '../dialects/decode/paymasterRequest.js'
import type { VersionedStub } from '../dialects/paymasterAnswer.js'
import { encodeStub } from '../dialects/paymasterData.js'
import { EXAMPLE_TANK, examplePaymasterParams, exampleSponsored } from './examples/examples.js'
import { method } from './method.js'
import { paymasterErrors } from './methodErrors.js'

/** No webhook is asked for a stub. */
export const getPaymasterStubData = method({
  name: 'pm_getPaymasterStubData',
  summary: 'Paymaster data of the final length, to estimate with (ERC-7677).',
  scope: 'paymaster',
  cost: 1,
  simulates: false,
  params: ['operation', 'entryPoint', 'chainId', 'context?'],
  errors: paymasterErrors,
  decode: decodePaymasterParams('commit'),
  run: async (request, { chain, appId, sponsorOf }): Promise<VersionedStub> => {
    const { version } = request.entryPoint
    if (request.mode === 'ERC20') {
      const payer = await chain.tokens.stub({ ...request, appId })
      return { payer, version, separateSignature: false, isFinal: false, sponsor: undefined }
    }
    const { mode, separateSignature, refusal, ...sponsorship } = request
    const [payer, sponsor] = await Promise.all([
      chain.stub({ ...sponsorship, appId, webhookData: undefined }),
      sponsorOf(appId),
    ])
    const isFinal = request.signingPhase === 'commit'
    return { payer, version, separateSignature, isFinal, sponsor }
  },
  encode: { both: encodeStub },
  example: {
    params: examplePaymasterParams,
    outcome: {
      payer: {
        paymaster: EXAMPLE_TANK,
        paymasterData: exampleSponsored.paymasterData,
        paymasterVerificationGasLimit: 30_000n,
        paymasterPostOpGasLimit: 1n,
      },
      version: '0.7',
      separateSignature: false,
      isFinal: false,
      sponsor: { name: 'Shop', icon: 'https://shop.example/icon.png' },
    },
    result: {
      both: {
        paymaster: EXAMPLE_TANK,
        paymasterData: exampleSponsored.paymasterData,
        paymasterVerificationGasLimit: '0x7530',
        paymasterPostOpGasLimit: '0x1',
        isFinal: false,
        sponsor: { name: 'Shop', icon: 'https://shop.example/icon.png' },
      },
    },
  },
})
