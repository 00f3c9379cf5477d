import { numberToHex } from 'viem'
import { splitPaymasterSignature } from '../../entrypoint/paymasterSignature.js'
import type { PolicyPreview, SponsorshipDecision } from '../../paymaster/sponsorship.js'
import type { VersionedSponsorship, VersionedStub } from '../rpc/signatures.js'
import { encodePaymaster, type PaymasterFields, packEntity } from './operationFields.js'

/**
 * ERC-7677 stub. Not final: the wallet estimates with it and asks again; unless its account signs
 * first, for then the data is that of the stub and only a signature is asked for later.
 */
export const encodeStub = ({ payer, version, separateSignature, isFinal }: VersionedStub) => ({
  ...(version === '0.6'
    ? { paymasterAndData: packEntity(payer?.paymaster, payer?.paymasterData ?? '0x') }
    : payer && encodePayer(payer, separateSignature)),
  ...(payer === undefined && noFees),
  isFinal,
})

/** Clients merge what we answer into the operation: without a paymaster it must offer nothing. */
const noFees = { maxFeePerGas: '0x0', maxPriorityFeePerGas: '0x0' }

/**
 * ERC-7677 data, with the gas limits that were signed: clients that ask once, before they
 * estimated, take them from here.
 */
export const encodePaymasterData = (result: VersionedSponsorship) => ({
  ...encodeSponsor(result),
  callGasLimit: numberToHex(result.operation.callGasLimit),
  verificationGasLimit: numberToHex(result.operation.verificationGasLimit),
  preVerificationGas: numberToHex(result.operation.preVerificationGas),
  ...encodeFreeFees(result),
})

/** Of an operation that is sponsored without a paymaster. */
export const encodeFreeFees = ({ decision, operation }: VersionedSponsorship) =>
  decision.sponsored && operation.paymaster === undefined && noFees

/** The paymaster fields of a sponsorship in the shape of its EntryPoint version. */
export const encodeSponsor = ({
  version,
  operation,
  paymasterAndData,
  separateSignature,
}: VersionedSponsorship) =>
  version === '0.6' ? { paymasterAndData } : encodePayer(operation, separateSignature)

const encodePayer = (payer: PaymasterFields, separateSignature: boolean) => {
  const late = separateSignature ? splitPaymasterSignature(payer.paymasterData) : undefined
  if (late === undefined) return encodePaymaster(payer)
  return {
    ...encodePaymaster({ ...payer, paymasterData: late.data }),
    paymasterSignature: late.signature,
  }
}

/** Additive to the interface: says why, also in a refusal. */
export const encodeDecision = ({ sponsored, code, message, decisionId }: SponsorshipDecision) => ({
  sponsored,
  code,
  message,
  decisionId,
})

/** The same in both dialects: it holds words and ids only. */
export const encodePreview = ({ sponsored, code, message, policyId, policies }: PolicyPreview) => ({
  sponsored,
  code,
  message,
  policyId: policyId ?? null,
  policies,
})
