import type { Remedy } from './explanation.js'

const ESTIMATE_AGAIN = 'Ask eth_estimateUserOperationGas again and sign with its limits.'
const OPERATORS_BUG = 'It is the bundler that made this call: tell its operator.'

/** The codes of the EntryPoints v0.6 to v0.9, by what their contracts revert with. */
export const entryPointCodes: Readonly<Record<string, Remedy & { readonly meaning: string }>> = {
  AA10: {
    meaning: 'The account exists already, and the operation would deploy it.',
    culprit: 'app',
    steps: ['Send the operation without factory and factoryData (v0.6: without initCode).'],
  },
  AA13: {
    meaning: 'The factory failed or ran out of gas, or the delegate of an EIP-7702 account did.',
    culprit: 'app',
    steps: [
      'Simulate the factory call alone; its revert says what it misses.',
      `Raise verificationGasLimit, which pays for the deployment. ${ESTIMATE_AGAIN}`,
    ],
  },
  AA14: {
    meaning: 'The factory deployed another address than the sender.',
    culprit: 'app',
    steps: ['Compute the sender from the same owners and salt that factoryData holds.'],
  },
  AA15: {
    meaning: 'The factory ran and the sender still has no code.',
    culprit: 'app',
    steps: ['Check the factory address and the function that factoryData calls.'],
  },
  AA20: {
    meaning: 'There is no code at the sender, and the operation deploys none.',
    culprit: 'app',
    steps: [
      'Send factory and factoryData with the first operation of an account.',
      'Check that the operation goes to the chain on which the account was deployed.',
      'For an EIP-7702 account, send eip7702Auth with the nonce that the account has now.',
    ],
  },
  AA21: {
    meaning: 'Nobody pays: the sender has less than the most that the operation may cost.',
    culprit: 'user',
    steps: [
      'Give the account native coin, or deposit for it in the EntryPoint.',
      'Ask a paymaster to pay before the account signs (pm_getPaymasterData, pm_sponsorUserOperation).',
    ],
  },
  AA22: {
    meaning: "The account's validation is outside of its time range.",
    culprit: 'app',
    steps: ['Sign again with a later end.', "Compare the signer's clock with the chain's."],
  },
  AA23: {
    meaning: "The account's validation reverted or ran out of gas.",
    culprit: 'app',
    steps: [
      'Read the decoded reason behind the code: it comes from the account.',
      `Without a reason it ran out of gas. ${ESTIMATE_AGAIN}`,
    ],
  },
  AA24: {
    meaning: "The account does not accept the operation's signature.",
    culprit: 'app',
    steps: [
      'Sign after the last field has its value: a paymaster or limits that came later change the hash.',
      'Sign for this chain id, this EntryPoint and this EntryPoint version.',
      'Sign with a key that the account knows, in the form that the account reads.',
    ],
  },
  AA25: {
    meaning: 'The nonce is used already, or is ahead of the next one of its key.',
    culprit: 'app',
    steps: [
      'Read the next nonce from the EntryPoint: getNonce(sender, key).',
      'Wait for the operation before, or use another nonce key for operations that may overtake.',
    ],
  },
  AA26: {
    meaning: 'Validation needs more gas than verificationGasLimit.',
    culprit: 'app',
    steps: [ESTIMATE_AGAIN],
  },
  AA27: {
    meaning: "The account's validation is outside of its range of block numbers.",
    culprit: 'app',
    steps: ['Sign again with a later last block.'],
  },
  AA30: {
    meaning: 'There is no code at the paymaster.',
    culprit: 'app',
    steps: ['Check the address of the paymaster and the chain.'],
  },
  AA31: {
    meaning: "The paymaster's deposit is below the most that the operation may cost.",
    culprit: 'app',
    steps: ['Deposit for the paymaster, for a tank with `purser tank deposit`.'],
  },
  AA32: {
    meaning: "The paymaster's signature is outside of its time range.",
    culprit: 'app',
    steps: [
      'Ask for the sponsorship just before the account signs, or for a longer one (expiryDuration).',
    ],
  },
  AA33: {
    meaning: "The paymaster's validation reverted or ran out of gas.",
    culprit: 'app',
    steps: [
      'Read the decoded reason behind the code: it comes from the paymaster.',
      'For payment in tokens, check balance and allowance of the sender.',
      'Raise paymasterVerificationGasLimit (v0.6: verificationGasLimit) where there is no reason.',
    ],
  },
  AA34: {
    meaning: "The paymaster's signature does not fit the operation.",
    culprit: 'app',
    steps: [
      'Send exactly what was sponsored: limits and fees that change afterwards make it void.',
      'Take over all fields of the answer that sponsored it, also the limits.',
    ],
  },
  AA36: {
    meaning: "The paymaster's validation needs more gas than paymasterVerificationGasLimit.",
    culprit: 'app',
    steps: ['Take over paymasterVerificationGasLimit of the answer that sponsored the operation.'],
  },
  AA37: {
    meaning: "The paymaster's signature is outside of its range of block numbers.",
    culprit: 'app',
    steps: ['Ask for the sponsorship again.'],
  },
  AA40: {
    meaning: 'Validation used more gas than verificationGasLimit (v0.6).',
    culprit: 'app',
    steps: [ESTIMATE_AGAIN],
  },
  AA41: {
    meaning: "verificationGasLimit leaves no gas for the paymaster's part (v0.6).",
    culprit: 'app',
    steps: [ESTIMATE_AGAIN],
  },
  AA50: {
    meaning: "The paymaster's postOp reverted.",
    culprit: 'app',
    steps: [
      "Read the decoded reason: it comes from the paymaster, often a token that the sender's call spent.",
    ],
  },
  AA51: {
    meaning: 'The operation cost more than its prefund.',
    culprit: 'app',
    steps: [`Raise the gas limits: the prefund follows from them. ${ESTIMATE_AGAIN}`],
  },
  AA90: {
    meaning: 'A bundle named no beneficiary.',
    culprit: 'operator',
    steps: [OPERATORS_BUG],
  },
  AA91: {
    meaning: 'The beneficiary of a bundle refused the fees.',
    culprit: 'operator',
    steps: ['Name a beneficiary that takes native coin, such as an account without code.'],
  },
  AA92: {
    meaning: 'A function of the EntryPoint was called that only the EntryPoint may call.',
    culprit: 'app',
    steps: ['Do not call innerHandleOp in an operation.'],
  },
  AA93: {
    meaning: "The paymaster's fields cannot be read: they are too short.",
    culprit: 'app',
    steps: ['Send the address of the paymaster with its limits and data, or no paymaster at all.'],
  },
  AA94: {
    meaning: 'A gas limit or fee is too large for the EntryPoint.',
    culprit: 'app',
    steps: [ESTIMATE_AGAIN],
  },
  AA95: {
    meaning: 'A bundle was sent with too little gas.',
    culprit: 'operator',
    steps: [OPERATORS_BUG],
  },
  AA96: {
    meaning: 'A bundle named an aggregator that may not be one.',
    culprit: 'operator',
    steps: [OPERATORS_BUG],
  },
  AA97: {
    meaning: 'The SenderCreator was called by somebody else than its EntryPoint.',
    culprit: 'app',
    steps: ['Do not call the SenderCreator; send factory and factoryData.'],
  },
  AA98: {
    meaning: "The paymaster's address is zero, and it has data.",
    culprit: 'app',
    steps: ['Leave out all fields of the paymaster, or name one.'],
  },
  AA99: {
    meaning: 'The factory fields are too short to hold an address.',
    culprit: 'app',
    steps: ['Send the whole address of the factory.'],
  },
}
