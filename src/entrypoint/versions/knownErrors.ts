import { keccak } from '../../encoding/keccak.js'

/** Custom errors that an EntryPoint itself reverts handleOps with (v0.7 guard, v0.9). */
const entryPointSignatures = [
  'Eip7702SenderNotDelegate(address)',
  'Eip7702SenderWithoutCode(address)',
  'FailedSendToBeneficiary(address,uint256,bytes)',
  'InternalFunction()',
  'InvalidBeneficiary(address)',
  'InvalidPaymaster(address)',
  'InvalidPaymasterData(uint256)',
  'InvalidPaymasterSignatureLength(uint256,uint256)',
  'Reentrancy()',
  'ReentrancyGuardReentrantCall()',
  'SignatureValidationFailed(address)',
]

/** Custom errors that accounts and paymasters often revert with. */
const contractSignatures = [
  'ECDSAInvalidSignature()',
  'ECDSAInvalidSignatureLength(uint256)',
  'ECDSAInvalidSignatureS(bytes32)',
  'ERC20InsufficientAllowance(address,uint256,uint256)',
  'ERC20InsufficientBalance(address,uint256,uint256)',
  'InsufficientBalance(uint256,uint256)',
  'OwnableUnauthorizedAccount(address)',
  // Of our token tanks: token, sender, charge.
  'PaymentRefused(address,address,uint256)',
  'PostOpReverted(bytes)',
]

function bySelector(signatures: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    signatures.map((signature) => {
      const hash = keccak(Buffer.from(signature).toString('hex'))
      return [`0x${hash.slice(0, 8)}`, signature]
    }),
  )
}

/** Signatures of an EntryPoint's own errors by selector. */
export const entryPointErrors = bySelector(entryPointSignatures)

/** Signatures of all errors known by name, by selector. */
export const knownErrors = bySelector([...entryPointSignatures, ...contractSignatures])
