import { numberToHex } from 'viem'
import type { SponsorshipDecision } from '../../paymaster/sponsorship.js'
import type { VersionedSponsorship, VersionedStub } from '../rpc/signatures.js'
import { encodePaymaster, packEntity } from './operationFields.js'

/** ERC-7677 stub. Not final: the wallet estimates with it and asks again. */
export const encodeStub = (stub: VersionedStub) => ({
  ...(stub.version === '0.6'
    ? { paymasterAndData: packEntity(stub.paymaster, stub.paymasterData) }
    : encodePaymaster(stub)),
  isFinal: false,
})

/**
 * ERC-7677 data, with the gas limits that were signed: clients that ask once, before they
 * estimated, take them from here.
 */
export const encodePaymasterData = (result: VersionedSponsorship) => ({
  ...encodeSponsor(result),
  callGasLimit: numberToHex(result.operation.callGasLimit),
  verificationGasLimit: numberToHex(result.operation.verificationGasLimit),
  preVerificationGas: numberToHex(result.operation.preVerificationGas),
})

/** The paymaster fields of a sponsorship in the shape of its EntryPoint version. */
export const encodeSponsor = ({ version, operation, paymasterAndData }: VersionedSponsorship) =>
  version === '0.6' ? { paymasterAndData } : encodePaymaster(operation)

/** Additive to the interface: says why, also in a refusal. */
export const encodeDecision = ({ sponsored, code, message, decisionId }: SponsorshipDecision) => ({
  sponsored,
  code,
  message,
  decisionId,
})
