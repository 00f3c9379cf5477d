import type { DevInfo } from '../../../src/cli/devInfo.js'
import { rpc } from '../http/jsonRpc.js'

/** Sends an operation that the service refuses: nobody has deployed its sender. Returns the reason. */
export async function sendRefused({
  standardUrl,
  entryPoints,
}: Pick<DevInfo, 'standardUrl' | 'entryPoints'>): Promise<string> {
  const operation = {
    sender: `0x${'ab'.repeat(20)}`,
    nonce: '0x0',
    callData: '0x',
    signature: '0x',
    maxFeePerGas: '0x77359400',
    maxPriorityFeePerGas: '0x77359400',
    callGasLimit: '0x5208',
    verificationGasLimit: '0x186a0',
    preVerificationGas: '0x186a0',
  }
  const params = [operation, entryPoints['0.7']]
  const { body } = await rpc(standardUrl, 'eth_sendUserOperation', params)
  if (body.error === undefined) throw new Error('The operation was not refused.')
  return body.error.message
}
