import type { Address } from 'viem'
import { entryPoint07Address } from 'viem/account-abstraction'
import { compileSolidity } from '../../support/chain/compileSolidity.js'
import { constructAt } from './constructAt.js'
import { modulekitCode } from './creationCode.js'
import { modelValidatorSource } from './modelValidator.js'

/** Where clients expect Kernel 3.1. */
const IMPLEMENTATION: Address = '0xBAC849bB641841b44E965fB01A4Bf5F074f84b4D'
const FACTORY: Address = '0xaac5D4240AF87249B3f71BC8E4A2cae074A3E419'
const META_FACTORY: Address = '0xd703aaE79538628d27099B8c4f621bE4CCd142d5'
const ECDSA_VALIDATOR: Address = '0x845ADb2C711129d4f3966735eD98a9F09fC4cE57'

const models = `${modelValidatorSource}
interface Factory {
    function createAccount(bytes calldata data, bytes32 salt) external payable returns (address);
}

contract ModelMetaFactory {
    function deployWithFactory(Factory factory, bytes calldata data, bytes32 salt)
        external payable returns (address)
    {
        return factory.createAccount{value: msg.value}(data, salt);
    }
}
`

/** Kernel 3.1 and its factory; models of the meta factory and of the ECDSA validator. */
export async function placeKernel(rpcUrl: string): Promise<void> {
  const code = (name: string) => modulekitCode('KernelPrecompiles', name)
  const { ModelMetaFactory, ModelValidator } = compileSolidity(models)
  await constructAt(rpcUrl, IMPLEMENTATION, code('KERNEL_BYTECODE'), [entryPoint07Address])
  await constructAt(rpcUrl, FACTORY, code('KERNEL_FACTORY_BYTECODE'), [IMPLEMENTATION])
  await constructAt(rpcUrl, META_FACTORY, ModelMetaFactory!.bytecode)
  await constructAt(rpcUrl, ECDSA_VALIDATOR, ModelValidator!.bytecode)
}
