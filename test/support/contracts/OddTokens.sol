// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// An ERC-20 token without permit that anybody may mint; what is odd about it is in those below.
contract PlainToken {
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 amount);

    function faucet(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        return true;
    }

    function transfer(address to, uint256 amount) public virtual returns (bool) {
        _move(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) public virtual returns (bool) {
        require(allowance[from][msg.sender] >= amount, "allowance");
        allowance[from][msg.sender] -= amount;
        _move(from, to, amount);
        return true;
    }

    function _move(address from, address to, uint256 amount) internal virtual {
        require(balanceOf[from] >= amount, "balance");
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
        emit Transfer(from, to, amount);
    }
}

/// Returns nothing, as USDT does.
contract SilentToken is PlainToken {
    function transfer(address to, uint256 amount) public override returns (bool) {
        _move(msg.sender, to, amount);
        assembly {
            return(0, 0)
        }
    }

    function transferFrom(address from, address to, uint256 amount) public override returns (bool) {
        require(allowance[from][msg.sender] >= amount, "allowance");
        allowance[from][msg.sender] -= amount;
        _move(from, to, amount);
        assembly {
            return(0, 0)
        }
    }
}

/// Keeps one percent of what is moved.
contract FeeToken is PlainToken {
    function _move(address from, address to, uint256 amount) internal override {
        uint256 fee = amount / 100;
        super._move(from, to, amount - fee);
        balanceOf[from] -= fee;
    }
}

interface IMoved {
    function tokensMove() external;
}

/// Tells contracts that their tokens are about to leave and that tokens came (ERC-777).
contract HookToken is PlainToken {
    mapping(address => bool) public listens;

    function listen() external {
        listens[msg.sender] = true;
    }

    function _move(address from, address to, uint256 amount) internal override {
        if (listens[from]) IMoved(from).tokensMove();
        super._move(from, to, amount);
        if (listens[to]) IMoved(to).tokensMove();
    }
}

/// Refuses blocked addresses, in each of the ways in which a token can refuse.
contract BlockingToken is PlainToken {
    enum Refusal {
        Sentence,
        OneByte,
        Nothing,
        AllGas,
        SaysFalse,
        LongAnswer
    }

    mapping(address => bool) public blocked;
    Refusal public refusal;

    function setBlocked(address account, bool isBlocked, Refusal refusal_) external {
        blocked[account] = isBlocked;
        refusal = refusal_;
    }

    function transfer(address to, uint256 amount) public override returns (bool) {
        if (blocked[to]) return _refuse();
        return super.transfer(to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) public override returns (bool) {
        if (blocked[from]) return _refuse();
        return super.transferFrom(from, to, amount);
    }

    function _refuse() private view returns (bool) {
        if (refusal == Refusal.Sentence) revert("blocked");
        if (refusal == Refusal.OneByte) {
            assembly {
                revert(0, 1)
            }
        }
        if (refusal == Refusal.Nothing) {
            assembly {
                revert(0, 0)
            }
        }
        if (refusal == Refusal.LongAnswer) {
            assembly {
                revert(0, 2000)
            }
        }
        if (refusal == Refusal.AllGas) while (true) {}
        return false;
    }
}
