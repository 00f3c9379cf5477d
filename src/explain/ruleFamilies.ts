import type { Remedy } from './explanation.js'

const USE_COMMON_CODE =
  'Use an account, factory or paymaster that keeps to ERC-7562; docs/validation.md lists each rule.'
const STAKE = 'Stake the entity in the EntryPoint where the message names a minimum.'

/**
 * The rules of ERC-7562 by the family of their identifiers. The message of a refusal names the entity,
 * the opcode or slot and the contract.
 */
export const ruleFamilies: Readonly<Record<string, Remedy & { readonly meaning: string }>> = {
  OP: {
    meaning: 'Validation runs an opcode, a call or a creation that could differ in the bundle.',
    culprit: 'app',
    steps: [
      'Leave that opcode out of validation: time, block and gas may be read by the call instead.',
      USE_COMMON_CODE,
    ],
  },
  STO: {
    meaning: 'Validation reads or writes storage that others can change before the bundle.',
    culprit: 'app',
    steps: [
      "Keep what validation needs in the account's own storage, or in slots that belong to its address.",
      STAKE,
    ],
  },
  COD: {
    meaning: 'Code that validation visits changed between two validations.',
    culprit: 'app',
    steps: ['Send the operation again once the upgrade is mined.'],
  },
  AUTH: {
    meaning:
      'Validation uses an EIP-7702 account that is not the sender, or two delegates compete.',
    culprit: 'app',
    steps: ['Let validation call contracts only, no delegated accounts of others.'],
  },
  EREP: {
    meaning:
      'An entity does what only staked entities may do, or broke its word on gas or context.',
    culprit: 'app',
    steps: [STAKE, 'Let the paymaster return no context, or an equal one each time.'],
  },
  SREP: {
    meaning: 'A staked entity did what stakes answer for.',
    culprit: 'app',
    steps: ['Use another entity until its reputation has recovered.'],
  },
  GREP: {
    meaning:
      'An entity is throttled or banned, because its operations failed after they were admitted.',
    culprit: 'app',
    steps: [
      'Wait: the counts halve every hour or so.',
      'Find out why its earlier operations were dropped, and mend that first.',
    ],
  },
  UREP: {
    meaning: 'An entity without stake has as many pending operations as it may have.',
    culprit: 'app',
    steps: ['Wait until some are included.', STAKE],
  },
  LIM: {
    meaning: 'A field or a limit of the operation is beyond what bundlers accept.',
    culprit: 'app',
    steps: ['Stay within the number in the message.', 'Take the limits of an estimate.'],
  },
}
