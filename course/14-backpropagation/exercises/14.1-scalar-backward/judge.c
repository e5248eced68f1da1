#include "learn_c.h"

#include "14.1-scalar-backward.c"

static struct value input(double data)
{
    struct value v = {data, 0, 0, NULL, NULL};
    return v;
}

static struct value apply(char operation, struct value *left, struct value *right)
{
    double data = operation == '+'   ? left->data + right->data
                  : operation == '*' ? left->data * right->data
                                     : (left->data > 0 ? left->data : 0);
    struct value v = {data, 0, operation, left, right};
    return v;
}

static void sum_and_product(void)
{
    struct value a = input(3), b = input(-5);
    struct value sum = apply('+', &a, &b), product = apply('*', &sum, &b);
    learn_case("(a + b) * b with a = 3, b = -5");
    product.gradient = 2; // as if the result were twice the product
    backward_step(&product);
    learn_expect_double("the gradient of a + b", sum.gradient, -10, 0);
    learn_expect_double("the gradient of b, so far", b.gradient, -4, 0);
    backward_step(&sum);
    backward_step(&a);
    learn_expect_double("the gradient of a", a.gradient, -10, 0);
    learn_expect_double("the gradient of b", b.gradient, -14, 0);
    learn_expect_double("the gradient of the product itself", product.gradient, 2, 0);
}

static void square(void)
{
    struct value x = input(7), result = apply('*', &x, &x);
    learn_case("x * x with x = 7");
    result.gradient = 1;
    backward_step(&result);
    learn_expect_double("the gradient of x", x.gradient, 14, 0);
}

static void relu_of(double data, double expected)
{
    struct value x = input(data), result = apply('r', &x, NULL);
    learn_case("relu(x) with x = %g", data);
    x.gradient = 4; // from another use of x
    result.gradient = -3;
    backward_step(&result);
    learn_expect_double("the gradient of x", x.gradient, expected, 0);
}

int main(void)
{
    sum_and_product();
    square();
    relu_of(2, 1);
    relu_of(-2, 4);
    return learn_passed();
}
